package auth

import (
	"context"
	"database/sql"
	"errors"

	"github.com/orbitrun/orbit/api/problem"
	"github.com/orbitrun/orbit/api/tx"
	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/db"
)

// Bootstrap makes sure that a namespace and an application of these names exist and issues a new key for the
// application. It is for whoever already holds the database: the command line and the development server. A crash
// between its transactions is repaired by running it again.
func (s *Service) Bootstrap(ctx context.Context, namespace, application, keyName string, scopes []string) (Issued, error) {
	if bad := unknownScope(scopes); bad != "" {
		return Issued{}, problem.New("scope_unknown", "there is no scope "+bad)
	}
	ns, err := s.ensureNamespace(ctx, namespace)
	if err != nil {
		return Issued{}, err
	}
	app, err := s.ensureApplication(ctx, ns, application)
	if err != nil {
		return Issued{}, err
	}
	key := Mint(ns, NewID())
	out := Credential{ID: key.Credential, Application: app, Name: keyName, Scopes: joinScopes(scopes)}
	err = s.writer.Run(ctx, ns, "bootstrap_credential", func(ctx context.Context, b tx.Begun) error {
		if out.CreatedAt, err = b.Clock(ctx); err != nil {
			return err
		}
		return insertCredential(ctx, b.Tx, key, out, "bootstrap", "credential.created")
	})
	return Issued{out, key}, err
}

func (s *Service) ensureNamespace(ctx context.Context, name string) (uint64, error) {
	id, err := db.New(s.reader).GetNamespaceByName(ctx, []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		id = NewID()
		err = s.writer.Run(ctx, id, "create_namespace_name", func(ctx context.Context, b tx.Begun) error {
			return one(b.Queries().InsertNamespaceName(ctx, db.InsertNamespaceNameParams{Name: []byte(name), NamespaceID: id}))
		})
	}
	if tx.ClassOf(err) == tx.Duplicate { // another process was faster
		id, err = db.New(s.reader).GetNamespaceByName(ctx, []byte(name))
	}
	if err != nil {
		return 0, err
	}
	return id, s.ensureNamespaceRow(ctx, id, name)
}

func (s *Service) ensureNamespaceRow(ctx context.Context, id uint64, name string) error {
	_, err := db.New(s.reader).GetNamespace(ctx, id)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = s.writer.Run(ctx, id, "create_namespace", func(ctx context.Context, b tx.Begun) error {
		if _, err := b.Clock(ctx); err != nil {
			return err
		}
		if err := one(b.Queries().InsertNamespace(ctx, db.InsertNamespaceParams{NamespaceID: id, Name: []byte(name)})); err != nil {
			return err
		}
		err := one(b.Queries().InsertStream(ctx, db.InsertStreamParams{NamespaceID: id, LastHash: make([]byte, 32)}))
		if err != nil {
			return err
		}
		return record(ctx, b.Tx, 0, "bootstrap", "namespace.created", NamespaceText(id), "", exact.Field("name", exact.String(name)))
	})
	if tx.ClassOf(err) == tx.Duplicate {
		return nil
	}
	return err
}

func (s *Service) ensureApplication(ctx context.Context, ns uint64, name string) (uint64, error) {
	find := func() (uint64, error) {
		row, err := db.New(s.reader).GetApplicationByName(ctx, db.GetApplicationByNameParams{NamespaceID: ns, Name: []byte(name)})
		return row.ApplicationID, err
	}
	id, err := find()
	if !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	id = NewID()
	err = s.writer.Run(ctx, ns, "bootstrap_application", func(ctx context.Context, b tx.Begun) error {
		if _, err := b.Clock(ctx); err != nil {
			return err
		}
		return insertApplication(ctx, b.Tx, id, name, DefaultLimits, "bootstrap")
	})
	if tx.ClassOf(err) == tx.Duplicate {
		return find()
	}
	return id, err
}
