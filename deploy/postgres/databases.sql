-- A database and a role of its own for each service: none can connect to another's. Written by `npm run access-rules`. For
-- development: the passwords are the names. For production, deploy/local/src/create-databases.ts takes passwords as settings.
revoke all on database postgres from public;
revoke all on database template1 from public;
create role identity login password 'identity';
create database identity owner identity;
revoke all on database identity from public;
create role enrollment login password 'enrollment';
create database enrollment owner enrollment;
revoke all on database enrollment from public;
create role billing login password 'billing';
create database billing owner billing;
revoke all on database billing from public;
create role notifications login password 'notifications';
create database notifications owner notifications;
revoke all on database notifications from public;
