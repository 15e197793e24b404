#!/bin/sh
# Creates Temporal's two databases and brings their tables up to date. May run before every start.
set -eu
for database in temporal:temporal temporal_visibility:visibility; do
  name=${database%%:*}
  versions=/etc/temporal/schema/postgresql/v12/${database##*:}/versioned
  temporal-sql-tool --db "$name" create
  temporal-sql-tool --db "$name" setup-schema -v 0.0
  temporal-sql-tool --db "$name" update-schema -d "$versions"
done
