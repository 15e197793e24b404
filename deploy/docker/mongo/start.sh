#!/bin/bash
# Starts mongod as the only member of a replica set, with authentication. A set with authentication needs a key that its
# members share; here there is one member, so the key is new at every start and nobody has to keep it.
set -eu
key=/tmp/replica-set.key
umask 077
rm -f "$key"
head -c 512 /dev/urandom | base64 -w 0 >"$key"
chown mongodb:mongodb "$key"
exec docker-entrypoint.sh mongod --replSet rs0 --keyFile "$key" --bind_ip_all
