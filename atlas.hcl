// For people who have the stock atlas CLI; `orbit migrate` does the same without it.
//
//   atlas migrate status --env local
//   atlas migrate diff NAME --env local      then `orbit migrate diff NAME` refreshes schema.txt
//
// Both tools share sql/migrations, atlas.sum and the table atlas_schema_revisions.
// The CLI wants addresses as URLs (mysql://user:password@host:port/name), which
// `orbit migrate` reads as well.

variable "url" {
  type    = string
  default = getenv("ORBIT_DATABASE_URL")
}

// An empty database for planning: the CLI does not create one by itself.
variable "dev_url" {
  type    = string
  default = getenv("ORBIT_DEV_URL")
}

env "local" {
  src = "file://sql/schema"
  url = var.url
  dev = var.dev_url
  migration {
    dir = "file://sql/migrations"
  }
  format {
    migrate {
      diff = "{{ sql . \"  \" }}"
    }
  }
}

// Forward only: whatever loses data is an error, not a warning.
lint {
  destructive {
    error = true
  }
  data_depend {
    error = true
  }
  incompatible {
    error = true
  }
}
