#!/bin/sh
# Run by PostgreSQL's image in an empty database server: a database and a role of its own for each service, with the password that is
# in the service's DATABASE_URL.
for service in identity enrollment billing notifications; do
  url=$(cat "/run/secrets/${service}_database_url")
  password=${url#*://*:}
  psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d postgres -v service="$service" -v password="${password%%@*}" <<'SQL' || exit 1
create role :"service" login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password :'password';
create database :"service" owner :"service";
revoke all on database :"service" from public;
SQL
done
psql -v ON_ERROR_STOP=1 -U "${POSTGRES_USER:-postgres}" -d postgres -c 'revoke all on database postgres, template1 from public' || exit 1
