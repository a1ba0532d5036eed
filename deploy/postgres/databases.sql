-- A database and a role of its own for each service: none can read another's.
create role identity login password 'identity';
create database identity owner identity;
revoke connect on database identity from public;
create role enrollment login password 'enrollment';
create database enrollment owner enrollment;
revoke connect on database enrollment from public;
create role billing login password 'billing';
create database billing owner billing;
revoke connect on database billing from public;
create role notifications login password 'notifications';
create database notifications owner notifications;
revoke connect on database notifications from public;
