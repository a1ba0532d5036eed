#!/bin/sh
# Starts nats-server with users.conf, and with the arguments given. The password of each user is in NATS_PASSWORD_<USER>, or in the
# file that NATS_PASSWORD_<USER>_FILE names.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)

for name in $(sed -n 's/^ *password: \$\([A-Z_]*\)$/\1/p' "$folder/users.conf"); do
  eval "password=\${$name:-} file=\${${name}_FILE:-}"
  if [ -n "$file" ]; then
    if [ -n "$password" ]; then
      echo "$name and ${name}_FILE are both set: leave one out." >&2
      exit 1
    fi
    password=$(cat "$file")
  fi
  # Quotes and backslashes would end or change the quoted value below.
  case $password in
    '') echo "$name is not set: set it, or ${name}_FILE." >&2; exit 1 ;;
    *[!A-Za-z0-9+/=._~-]*) echo "$name may have letters, digits and + / = . _ ~ - only." >&2; exit 1 ;;
  esac
  # nats-server reads a value as it reads its configuration file, where 12k is a number and // begins a comment.
  export "$name=\"$password\""
  unset "${name}_FILE" password file
done

exec nats-server -c "$folder/users.conf" "$@"
