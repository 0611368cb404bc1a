#!/usr/bin/env bash
# A real database for Orbit, private to this user, on loopback. Nothing is installed system-wide.
#
#   db.sh up     [name] [options]   start (fetch and initialise when needed), print the DSN
#   db.sh down   [name]             stop cleanly, keep the data
#   db.sh kill   [name]             SIGKILL, for crash tests; `up` then recovers
#   db.sh wipe   [name]             stop and delete the data
#   db.sh fetch                     only make sure the binaries are there
#   db.sh dsn    [name]             print the DSN of an instance that exists
#   db.sh status [name]             one line per instance
#   db.sh exec   [name] -- args     SQL client as root over the socket
#
# Options:
#   --profile=fast|durable   fast (default): a crash of the machine may lose the last second; for tests.
#                            durable: every commit is on disk, binlog with sync_binlog=1; for chaos and benchmarks.
#   --dir=PATH               the instance's folder (default: <run>/<name>)
#   --engine=auto|mysql|mariadb
#
# Where the server comes from, first hit wins, the reason is printed on stderr:
#   1. ORBIT_DATABASE_URL          nothing is started, the value is reported
#   2. mysqld on PATH
#   3. the private cache           ORBIT_DB_CACHE, XDG_CACHE_HOME/orbit/mysql, ~/.cache/orbit/mysql
#   4. a folder of .deb files      ORBIT_MYSQL_DEBS, or the sibling folder shared/mysql/debs of the checkout
#   5. the Debian package          downloaded with this machine's own apt mirror, unpacked into the cache
#   6. mariadbd                    on PATH, or its Debian package when run as root
#
# Environment: ORBIT_DB_RUN (folder of instances), ORBIT_DB_PORT, ORBIT_MYSQL_PFS=1 (performance_schema),
#   ORBIT_MYSQL_BINLOG=0|1, ORBIT_DB_BUFFER_MIB, ORBIT_DB_REDO_MIB,
#   ORBIT_MYSQL_EXTRA (more my.cnf lines),
#   ORBIT_DEBIAN_MIRROR, ORBIT_MYSQL_SUITES.
set -euo pipefail
# A caller's locale would change globs and messages this script reads.
export LC_ALL=C

log() { printf 'db: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }
usage() {
  [[ -f ${BASH_SOURCE[0]:-} ]] || die 'usage: up|down|kill|wipe|fetch|dsn|status|exec [name] [options]'
  sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# ── arguments ────────────────────────────────────────────────────────────────────────────────────────────────

COMMAND=${1:-} NAME=main DIR='' PROFILE=${ORBIT_DB_PROFILE:-} WANT=${ORBIT_DB_ENGINE:-auto} NAMED=''
[[ $COMMAND ]] || usage
shift
while (($#)); do
  case $1 in
    --) shift; break ;;
    --profile=*) PROFILE=${1#*=} ;;
    --dir=*) DIR=${1#*=} ;;
    --engine=*) WANT=${1#*=} ;;
    -*) die "unknown option $1" ;;
    *) NAME=$1 NAMED=1 ;;
  esac
  shift
done
[[ $NAME =~ ^[A-Za-z0-9_.-]{1,40}$ ]] || die "instance name '$NAME': use letters, digits, _ . - (at most 40)"
[[ $PROFILE =~ ^(fast|durable|)$ ]] || die "profile '$PROFILE': fast or durable"
[[ $WANT =~ ^(auto|mysql|mariadb)$ ]] || die "engine '$WANT': auto, mysql or mariadb"

# ── folders ──────────────────────────────────────────────────────────────────────────────────────────────────

# Two users must not meet in a shared /tmp: the folder is ours, or we stop.
own_folder() {
  (umask 077 && mkdir -p "$1") 2>/dev/null && [[ -O $1 && -w $1 ]]
}

cache_folder() {
  local home=${HOME:-} wish
  wish=${ORBIT_DB_CACHE:-${XDG_CACHE_HOME:-${home:+$home/.cache}}}
  [[ ${ORBIT_DB_CACHE:-} || -z $wish ]] || wish=$wish/orbit/mysql
  if [[ $wish == /* ]] && own_folder "$wish"; then echo "$wish"; return; fi
  wish=${TMPDIR:-/tmp}/orbit-cache-$(id -u)
  own_folder "$wish" || die "no writable cache folder: set ORBIT_DB_CACHE"
  echo "$wish"
}

BASE=${ORBIT_DB_RUN:-${TMPDIR:-/tmp}/orbit-db-$(id -u)}
[[ $BASE == /* ]] || BASE=$PWD/$BASE
RUN=${DIR:-$BASE/$NAME}
[[ $RUN == /* ]] || RUN=$PWD/$RUN
CACHE=$(cache_folder)
ROOT=$CACHE/root
CONF=$RUN/my.cnf

# A unix socket path holds 107 bytes; a deep data folder gets its socket under /tmp instead.
SOCKET=$RUN/s.sock
((${#SOCKET} < 104)) || SOCKET=/tmp/orbit-db-$(id -u)-$(cksum <<<"$RUN" | cut -d' ' -f1).sock

# ── finding a server ─────────────────────────────────────────────────────────────────────────────────────────

# Each locate_* sets ENGINE, ORIGIN, SERVER, CLIENT and CONF_HOME, or returns 1 after adding its reason to MISSED.
ENGINE='' ORIGIN='' VERSION='' MISSED='' SERVER=() CLIENT=() CONF_HOME=()
missed() { MISSED+="${MISSED:+; }$*"; return 1; }

on_path() { PATH=$PATH:/usr/sbin:/usr/local/sbin:/usr/local/mysql/bin command -v "$1"; }

locate_path() {
  local bin; bin=$(on_path mysqld) || { missed 'no mysqld on PATH'; return 1; }
  # Debian's MariaDB installs a mysqld link: that is the second tier, not this one.
  [[ $("$bin" --version 2>/dev/null) != *MariaDB* ]] || { missed "$bin is MariaDB"; return 1; }
  ENGINE=mysql ORIGIN="$bin on PATH" SERVER=("$bin") CLIENT=() CONF_HOME=()
  ! bin=$(on_path mysql) || CLIENT=("$bin")
}

# Private binaries start through the prefix's own dynamic loader, so they need neither this machine's libc nor
# LD_LIBRARY_PATH, which would leak into every child.
private_command() {
  local lib loader; lib=$ROOT/usr/lib/$(uname -m)-linux-gnu
  loader=$(compgen -G "$lib/ld-linux-*.so.*" | head -1)
  PRIVATE=("$loader" --inhibit-cache --library-path "$lib" --argv0 "$1" "$1")
}

use_private() {
  local PRIVATE
  private_command "$ROOT/usr/sbin/mysqld"; SERVER=("${PRIVATE[@]}")
  private_command "$ROOT/usr/bin/mysql"; CLIENT=("${PRIVATE[@]}")
  ENGINE=mysql ORIGIN=$1
  CONF_HOME=("basedir=$ROOT/usr" "plugin_dir=$ROOT/usr/lib/mysql/plugin"
    "character_sets_dir=$ROOT/usr/share/mysql/charsets" "lc_messages_dir=$ROOT/usr/share/mysql")
}

locate_cache() {
  [[ -f $ROOT/.complete ]] || { missed "nothing in the cache $CACHE"; return 1; }
  use_private "the private cache $CACHE"
}

# The checkout this script belongs to; when it comes by stdin, out of the binary, the one around the working directory.
checkout() {
  local folder=$PWD
  if [[ -f ${BASH_SOURCE[0]:-} ]]; then
    (cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    return
  fi
  until [[ -f $folder/scripts/db.sh && -f $folder/go.mod ]]; do
    [[ $folder == */* && $folder != / ]] || return 1
    folder=${folder%/*}
  done
  echo "$folder"
}

debs_folder() {
  local root
  [[ -z ${ORBIT_MYSQL_DEBS:-} ]] || { echo "$ORBIT_MYSQL_DEBS"; return; }
  root=$(checkout) || return 1
  [[ -d ${root%/*}/shared/mysql/debs ]] && echo "${root%/*}/shared/mysql/debs"
}

locate_debs() {
  local debs; debs=$(debs_folder) || { missed 'no folder of .deb files'; return 1; }
  compgen -G "$debs/mysql-server-core_*.deb" >/dev/null || { missed "no mysql-server-core in $debs"; return 1; }
  command -v dpkg-deb >/dev/null || { missed 'no dpkg-deb to unpack .deb files'; return 1; }
  under_cache_lock unpack "$debs" || return 1
  use_private "the .deb files in $debs"
}

locate_apt() {
  command -v apt-get >/dev/null || { missed 'no apt-get'; return 1; }
  under_cache_lock download || return 1
  use_private 'the Debian package, unpacked privately'
}

locate_mariadb() {
  local bin; bin=$(on_path mariadbd) || {
    [[ $(id -u) == 0 ]] || { missed 'no mariadbd on PATH'; return 1; }
    command -v apt-get >/dev/null || { missed 'no mariadbd on PATH, no apt-get to install it'; return 1; }
    log 'installing mariadb-server-core and mariadb-client-core with apt-get'
    DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends install mariadb-server-core mariadb-client-core \
      >"$CACHE/mariadb-apt.log" 2>&1 || { missed "mariadb did not install, see $CACHE/mariadb-apt.log"; return 1; }
    bin=$(on_path mariadbd) || { missed 'no mariadbd after installing it'; return 1; }
  }
  ENGINE=mariadb ORIGIN=$bin SERVER=("$bin") CLIENT=() CONF_HOME=()
  ! bin=$(on_path mariadb) || CLIENT=("$bin")
}

# Data of another engine or of a later version must not be opened: it would be converted, or lost.
suits_data() {
  local engine version; engine=$(setting engine) version=$(setting version)
  [[ -z $engine || $engine == "$ENGINE" ]] || { missed "$RUN holds $engine data, $ORIGIN is $ENGINE"; return 1; }
  [[ -z $version || $(printf '%s\n%s\n' "$version" "$VERSION" | sort -V | tail -1) == "$VERSION" ]] ||
    missed "$RUN holds data of $engine $version, $ORIGIN is the older $VERSION"
}

# Tries the origins in order; one that cannot create an empty database (a confined system mysqld, say) is passed over.
find_server() {
  local origin order had
  had=$(setting engine)
  [[ $WANT != auto || -z $had ]] || WANT=$had
  case $WANT in
    auto) order='path cache debs apt mariadb' ;;
    mysql) order='path cache debs apt' ;;
    mariadb) order='mariadb' ;;
  esac
  for origin in $order; do
    "locate_$origin" || continue
    VERSION=$("${SERVER[@]}" --no-defaults --version 2>/dev/null | sed -E 's/.* Ver ([^ ]+).*/\1/') || true
    [[ $VERSION ]] || { missed "$ORIGIN does not run" || continue; }
    [[ $ENGINE == mariadb || ${VERSION%%.*} -ge 8 ]] || { missed "$ORIGIN is $VERSION, Orbit needs 8.0 or later" || continue; }
    suits_data || continue
    TEMPLATE=$CACHE/template-$ENGINE-$VERSION
    under_cache_lock make_template || { missed "$ORIGIN could not create a database, see $CACHE/init.log" || continue; }
    log "$ENGINE $VERSION from $ORIGIN${MISSED:+ ($MISSED)}"
    return
  done
  die "no database server: $MISSED"
}

# ── private packages ─────────────────────────────────────────────────────────────────────────────────────────

under_cache_lock() {
  local rc=0
  exec 9>"$CACHE/.lock"
  flock 9
  "$@" || rc=$?
  exec 9>&-
  return "$rc"
}

# unpack FOLDER: all packages into a fresh root, which appears under its name only when complete.
unpack() {
  local debs=$1 deb
  [[ ! -f $ROOT/.complete ]] || return 0
  rm -rf "$ROOT.new"
  mkdir -p "$ROOT.new"
  for deb in "$debs"/*.deb; do
    dpkg-deb -x "$deb" "$ROOT.new" || { missed "$deb does not unpack"; return 1; }
  done
  (cd "$debs" && sha256sum -- *.deb) >"$ROOT.new/DEBS.sha256"
  rm -rf "$ROOT.new"/usr/share/{doc,man,locale,lintian,bug}
  touch "$ROOT.new/.complete"
  rm -rf "$ROOT"
  mv "$ROOT.new" "$ROOT"
}

# The mirror is the one this machine already uses for Debian; no host is written here.
apt_mirror() {
  [[ -z ${ORBIT_DEBIAN_MIRROR:-} ]] || { echo "$ORBIT_DEBIAN_MIRROR"; return; }
  cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    grep -oE 'https?://[^ ]+/debian/?( |$)' | head -1 | tr -d ' '
}

# Private apt state. Its dpkg status pretends that nothing is installed, so apt downloads every library the server
# needs, except heavy script-only dependencies that the server never loads.
apt_state() {
  local apt=$1 mirror=$2 suite=$3 keyring=$4 arch package
  arch=$(dpkg --print-architecture)
  rm -rf "$apt"
  mkdir -p "$apt"/lists/partial "$apt"/cache/archives/partial
  echo "deb [signed-by=$keyring] $mirror $suite main" >"$apt/sources.list"
  for package in perl openssl-provider-legacy; do
    printf 'Package: %s\nStatus: install ok installed\nVersion: 99\nArchitecture: %s\n' "$package" "$arch"
    printf 'Multi-Arch: allowed\nMaintainer: x <x@x>\nDescription: placeholder\n\n'
  done >"$apt/status"
}

private_apt() {
  local apt=$1; shift
  apt-get -q -oDir::Etc::sourcelist="$apt/sources.list" -oDir::Etc::sourceparts=/dev/null \
    -oDir::Etc::preferences=/dev/null -oDir::Etc::preferencesparts=/dev/null \
    -oDir::State="$apt" -oDir::State::Lists="$apt/lists" -oDir::State::status="$apt/status" -oDir::Cache="$apt/cache" \
    -oAcquire::Languages=none -oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false -oAcquire::Retries=3 \
    -oAPT::Sandbox::User=root -oAPT::Install-Recommends=false -oDebug::NoLocking=1 "$@"
}

download() {
  [[ ! -f $ROOT/.complete ]] || return 0
  local apt=$CACHE/apt mirror keyring suite
  mirror=$(apt_mirror) || true
  [[ $mirror ]] || { missed 'no Debian mirror in the apt sources'; return 1; }
  keyring=$(compgen -G '/usr/share/keyrings/debian-archive-keyring.[gp][pg][gp]' | head -1) ||
    { missed 'no Debian archive keyring'; return 1; }
  for suite in ${ORBIT_MYSQL_SUITES:-sid}; do
    log "downloading mysql-server-core from Debian $suite"
    apt_state "$apt" "$mirror" "$suite" "$keyring"
    if private_apt "$apt" update >"$CACHE/apt.log" 2>&1 &&
      private_apt "$apt" -y --download-only install mysql-server-core mysql-client-core >>"$CACHE/apt.log" 2>&1; then
      unpack "$apt/cache/archives" || return 1
      rm -rf "$apt"
      return 0
    fi
  done
  missed "the Debian mirror did not serve mysql-server-core, see $CACHE/apt.log"
}

# ── configuration ────────────────────────────────────────────────────────────────────────────────────────────

# server_conf DATADIR PORT PROFILE
server_conf() {
  local buffer=${ORBIT_DB_BUFFER_MIB:-} redo=${ORBIT_DB_REDO_MIB:-} binlog=${ORBIT_MYSQL_BINLOG:-}
  printf '[mysqld]\n'
  ((${#CONF_HOME[@]} == 0)) || printf '%s\n' "${CONF_HOME[@]}"
  cat <<END
datadir=$1
socket=$SOCKET
pid_file=$RUN/server.pid
log_error=$RUN/error.log
tmpdir=$RUN/tmp
port=$2
bind_address=127.0.0.1
skip_name_resolve=ON
user=$(id -un)
default_time_zone=+00:00
character_set_server=utf8mb4
max_connections=500
table_open_cache=2000
max_allowed_packet=64M
performance_schema=${ORBIT_MYSQL_PFS:-0}
innodb_print_all_deadlocks=ON
innodb_lock_wait_timeout=10
innodb_use_native_aio=OFF
innodb_buffer_pool_dump_at_shutdown=OFF
innodb_buffer_pool_load_at_startup=OFF
END
  if [[ $3 == durable ]]; then
    buffer=${buffer:-1024} redo=${redo:-1024} binlog=${binlog:-1}
    printf 'innodb_flush_log_at_trx_commit=1\ninnodb_doublewrite=ON\n'
  else
    buffer=${buffer:-128} redo=${redo:-64} binlog=${binlog:-0}
    printf 'innodb_flush_log_at_trx_commit=2\ninnodb_doublewrite=OFF\n'
  fi
  printf 'innodb_buffer_pool_size=%sM\n' "$buffer"
  if [[ $binlog == 1 ]]; then
    printf 'server_id=1\nlog_bin=binlog\nsync_binlog=1\nbinlog_format=ROW\n'
  else
    printf 'skip_log_bin\n'
  fi
  if [[ $ENGINE == mysql ]]; then
    printf 'mysqlx=OFF\nsecure_file_priv=NULL\nlog_timestamps=UTC\ncollation_server=utf8mb4_bin\n'
    printf 'innodb_redo_log_capacity=%sM\n' "$redo"
  else
    printf 'collation_server=utf8mb4_bin\ninnodb_log_file_size=%sM\n' "$redo"
  fi
  printf '%s\n' "${ORBIT_MYSQL_EXTRA:-}"
}

boot_sql() {
  cat <<'END'
CREATE USER IF NOT EXISTS 'orbit'@'%' IDENTIFIED BY 'orbit';
GRANT ALL ON *.* TO 'orbit'@'%' WITH GRANT OPTION;
CREATE DATABASE IF NOT EXISTS orbit CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
END
}

# One empty database per engine version; an instance starts as a copy of it, which saves ten seconds each.
make_template() {
  [[ ! -f $TEMPLATE/.complete ]] || return 0
  local RUN=$CACHE/init SOCKET=$CACHE/init.sock
  rm -rf "$TEMPLATE" "$RUN"
  mkdir -p "$RUN/tmp"
  server_conf "$TEMPLATE" 0 fast >"$RUN/my.cnf"
  if [[ $ENGINE == mysql ]]; then
    "${SERVER[@]}" --defaults-file="$RUN/my.cnf" --initialize-insecure --log-error="$CACHE/init.log" \
      </dev/null >>"$CACHE/init.log" 2>&1 9>&- || return 1
  else
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$TEMPLATE" --skip-test-db \
      --auth-root-authentication-method=normal </dev/null >"$CACHE/init.log" 2>&1 9>&- || return 1
  fi
  # Every copy makes its own keys and its own server identity.
  rm -rf "$TEMPLATE"/*.pem "$TEMPLATE/auto.cnf" "$RUN"
  touch "$TEMPLATE/.complete"
}

# ── one instance ─────────────────────────────────────────────────────────────────────────────────────────────

# The pid of this folder's server, found by its exact --defaults-file argument: a pid file can be stale or missing
# after a crash, and its number may since belong to a stranger.
instance_pid() {
  local file
  if [[ -d /proc/self ]]; then
    # The pattern goes in by stdin, or grep would find its own command line.
    # shellcheck disable=SC2062
    file=$(grep --file=- -lzxF /proc/[0-9]*/cmdline 2>/dev/null <<<"--defaults-file=$CONF" | head -1) || true
    file=${file#/proc/}
    [[ $file ]] && echo "${file%/cmdline}"
  else
    file=$(cat "$RUN/server.pid" 2>/dev/null) || return 1
    ps -o args= -p "$file" 2>/dev/null | grep -qF -- "--defaults-file=$CONF" && echo "$file"
  fi
}

# A zombie still answers kill -0; its state tells. Its empty command line would not: a living process has none either for
# a moment, between its fork and the end of its exec, and a loaded machine makes that moment long.
alive() {
  kill -0 "$1" 2>/dev/null || return 1
  [[ ! -d /proc/self || $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) != Z* ]]
}

# The log is begun anew by every start, so the line speaks of the process that runs now.
ready() { grep -q 'ready for connections' "$RUN/error.log" 2>/dev/null; }
port_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
setting() { [[ ! -f $RUN/instance ]] || sed -n "s/^$1=//p" "$RUN/instance"; }
dsn() { echo "orbit:orbit@tcp(127.0.0.1:$(setting port))/orbit"; }

# Below the ephemeral range, so that no outgoing connection takes the port between two starts.
pick_port() {
  local port
  for port in "${ORBIT_DB_PORT:-}" "$(setting port)"; do
    [[ -z $port || $port == 0 ]] || port_open "$port" || { echo "$port"; return; }
  done
  for _ in {1..100}; do
    port=$((20000 + RANDOM % 12000))
    port_open "$port" || { echo "$port"; return; }
  done
  die 'no free port'
}

# The server gets a session of its own: the terminal's Ctrl-C is not for it.
spawn() {
  # Nothing of this folder runs (the caller looked), so a lock left by a killed server is stale; the server itself
  # would believe it when the old pid is a zombie or was given to a stranger.
  rm -f "$SOCKET" "$SOCKET.lock"
  [[ ! -f $RUN/error.log ]] || mv "$RUN/error.log" "$RUN/error.log.1"
  : >"$RUN/error.log"
  setsid "${SERVER[@]}" --defaults-file="$CONF" </dev/null >>"$RUN/error.log" 2>&1 8>&- 9>&- &
}

# await PID: 0 when ready, 1 when the server ended. Crash recovery of a big log may take minutes.
await() {
  local pid=$1 i
  for ((i = 0; i < 3000; i++)); do
    ! ready || return 0
    alive "$pid" || return 1
    sleep 0.1
  done
  die "server $pid is not ready after 300 s; see $RUN/error.log"
}

start() {
  local port attempt
  for attempt in 1 2 3 4 5; do
    port=$(pick_port)
    { server_conf "$RUN/data" "$port" "$PROFILE"; echo "init_file=$RUN/boot.sql"; } >"$CONF"
    printf 'port=%s\nprofile=%s\nengine=%s\nversion=%s\n' "$port" "$PROFILE" "$ENGINE" "$VERSION" >"$RUN/instance"
    spawn
    if await $!; then return; fi
    # Another start may have taken the port in between: that, and only that, is worth a second try.
    grep -qiE "address already in use|can't start server ?: bind" "$RUN/error.log" || break
    log "port $port was taken, trying another ($attempt)"
  done
  tail -20 "$RUN/error.log" >&2
  die "the server did not start; see $RUN/error.log"
}

adopt() {
  local pid=$1
  await "$pid" || die "server $pid of $RUN ended while starting; see $RUN/error.log"
  log "server $pid already runs in $RUN ($(setting engine) $(setting version), $(setting profile)): using it"
}

up() {
  local pid
  own_folder "$RUN" || die "cannot use $RUN: not ours or not writable"
  mkdir -p "$RUN/tmp"
  exec 8>"$RUN/.lock"
  flock 8
  if pid=$(instance_pid); then
    if [[ -z $PROFILE || $PROFILE == "$(setting profile)" ]]; then adopt "$pid"; dsn; return; fi
    log "profile $(setting profile) → $PROFILE: restarting"
    stop
  fi
  PROFILE=${PROFILE:-$(setting profile)}
  PROFILE=${PROFILE:-fast}
  find_server
  if [[ ! -f $RUN/data/.orbit ]]; then
    rm -rf "$RUN/data" "$RUN/data.new"
    cp -a --reflink=auto "$TEMPLATE" "$RUN/data.new" 2>/dev/null || cp -a "$TEMPLATE" "$RUN/data.new"
    mv "$RUN/data.new/.complete" "$RUN/data.new/.orbit"
    mv "$RUN/data.new" "$RUN/data"
  fi
  boot_sql >"$RUN/boot.sql"
  start
  log "server $(instance_pid) ready in $RUN, profile $PROFILE"
  dsn
}

stop() {
  local pid
  pid=$(instance_pid) || { log "nothing runs in $RUN"; return 0; }
  kill "$pid" 2>/dev/null || true
  for _ in {1..600}; do
    alive "$pid" || { log "server $pid stopped"; return 0; }
    sleep 0.1
  done
  log "server $pid ignored a clean stop for 60 s: killing it"
  kill -9 "$pid"
}

# Waits until the process is gone, so that a following `up` does not adopt the dying one.
crash() {
  local pid
  pid=$(instance_pid) || die "nothing runs in $RUN"
  kill -9 "$pid"
  while alive "$pid"; do sleep 0.02; done
  log "server $pid killed"
}

locked_stop() {
  [[ -d $RUN ]] || { log "no instance in $RUN"; return 0; }
  exec 8>"$RUN/.lock"
  flock 8
  stop
}

wipe() {
  [[ -d $RUN ]] || { log "no instance in $RUN"; return 0; }
  [[ -f $RUN/instance || -f $RUN/.lock ]] || die "$RUN does not look like an instance: not deleting it"
  locked_stop
  rm -rf "$RUN"
  rm -f "$SOCKET" "$SOCKET.lock"
}

status_line() {
  local pid state=stopped
  ! pid=$(instance_pid) || state="running pid $pid"
  printf '%s\t%s\tport %s\t%s %s\t%s\t%s\n' "$NAME" "$state" "$(setting port)" "$(setting engine)" "$(setting version)" \
    "$(setting profile)" "$RUN"
}

status() {
  if [[ $NAMED || $DIR ]]; then
    [[ -f $RUN/instance ]] || die "no instance in $RUN"
    status_line
    return
  fi
  for RUN in "$BASE"/*/; do
    RUN=${RUN%/} CONF=${RUN%/}/my.cnf NAME=$(basename "$RUN")
    [[ ! -f $RUN/instance ]] || status_line
  done
}

client() {
  find_server 2>/dev/null
  ((${#CLIENT[@]})) || die 'no SQL client beside the server'
  "${CLIENT[@]}" --no-defaults --socket="$SOCKET" -uroot "$@"
}

if [[ ${ORBIT_DATABASE_URL:-} && $COMMAND =~ ^(up|dsn|status|down|kill|wipe)$ ]]; then
  log 'ORBIT_DATABASE_URL is set: nothing is started or stopped here'
  [[ $COMMAND =~ ^(down|kill|wipe)$ ]] || echo "$ORBIT_DATABASE_URL"
  exit 0
fi
command -v flock >/dev/null || die 'flock (util-linux) is needed'
case $COMMAND in
  up) up ;;
  down) locked_stop ;;
  kill) crash ;;
  wipe) wipe ;;
  fetch) find_server ;;
  dsn) [[ -f $RUN/instance ]] || die "no instance in $RUN"; dsn ;;
  status) status ;;
  exec) client "$@" ;;
  *) usage ;;
esac
