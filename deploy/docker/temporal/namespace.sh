#!/bin/sh
# Waits until Temporal serves, and makes sure that the namespace of the runs exists. May run before every start.
set -eu
ATTEMPTS=60
RETENTION=72h

# A server that just came up refuses for a while, and so does a namespace that was just made.
until_it_works() {
  attempt=1
  until "$@" >/tmp/answer 2>&1; do
    if [ "$attempt" -ge "$ATTEMPTS" ]; then
      cat /tmp/answer >&2
      echo "gave up on: $*" >&2
      exit 1
    fi
    attempt=$((attempt + 1))
    sleep 1
  done
}

make_namespace() {
  temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" ||
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"
}

until_it_works temporal operator cluster health
until_it_works make_namespace
until_it_works temporal workflow list --namespace "$TEMPORAL_NAMESPACE" --limit 1
echo "namespace $TEMPORAL_NAMESPACE is ready"
