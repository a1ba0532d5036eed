#!/bin/sh
# Writes every secret of the system that can be made up, each into a file of its own: generate-secrets.sh [folder]
# A file that is there already is kept, so it can be run again after an update. The others come from the payment provider and the mail
# server; the end says which of them are still to be written. With --trial, they are those of the simulator and of the mail catcher.
set -eu
trial=
if [ "${1:-}" = --trial ]; then
  trial=yes
  shift
fi
folder=${1:-$(cd "$(dirname "$0")" && pwd)/secrets}
mkdir -p "$folder"
# Nobody else gets into the folder. The files themselves are read by users of containers.
chmod 700 "$folder"

keep() { # name, value
  [ -s "$folder/$1" ] || printf '%s' "$2" >"$folder/$1"
  chmod 444 "$folder/$1"
}
word() { openssl rand -hex 24; }
key() { printf 'k%s:%s' "$(date -u +%Y%m)" "$(openssl rand -base64 32)"; }

keep admin_secret "$(word)"
keep postgres_password "$(word)"
keep database_server_url "postgres://postgres:$(cat "$folder/postgres_password")@postgres:5432"
for service in identity enrollment billing notifications; do
  keep "database_password_$service" "$(word)"
  keep "${service}_database_url" "postgres://$service:$(cat "$folder/database_password_$service")@postgres:5432/$service"
done
for user in identity enrollment billing notifications bff operator; do keep "nats_password_$user" "$(word)"; done
# identity seals codes, notifications opens them.
keep code_sealing_keys "$(key)"
keep identity_sealing_keys "$(key)"
keep identity_mac_keys "$(key)"
# The BFF's secret at identity, and identity's list of such secrets.
keep identity_client_secret "$(word)"
keep identity_client_secrets "robokidsbff:$(cat "$folder/identity_client_secret")"
# The same for operators: `docker-compose run --rm admin account …`.
keep identity_admin_secret_key "$(word)"
keep identity_admin_keys "operator:$(cat "$folder/identity_admin_secret_key")"
keep bff_session_keys "$(key)"
keep bff_proof_secret "$(word)"
keep grafana_admin_password "$(word)"

if [ -n "$trial" ]; then
  keep stripe_secret_key sk_test_local
  keep stripe_webhook_secrets whsec_local
  keep smtp_url smtp://mailbox:1025
fi
missing=
for name in stripe_secret_key stripe_webhook_secrets smtp_url; do
  [ -s "$folder/$name" ] || missing="$missing $name"
done
if [ -n "$missing" ]; then
  echo "Still to be written in $folder:$missing (see README.md)" >&2
  exit 1
fi
echo "All secrets are in $folder"
