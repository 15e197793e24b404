#!/bin/sh
# Writes the settings of a new installation: example.env with every empty value replaced by a random secret.
#
#   make-env.sh [FILE]     FILE is .env in the repository's root by default; an existing one is left alone.
set -eu
umask 077
here=$(dirname "$0")
target=${1:-$here/../../.env}

if [ -e "$target" ]; then
  echo "$target is there already; its secrets are in use" >&2
  exit 1
fi

new_secret() {
  od -An -tx1 -N32 /dev/urandom | tr -d ' \n'
}

while IFS= read -r line; do
  case $line in
    [A-Z]*=) printf '%s%s\n' "$line" "$(new_secret)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <"$here/example.env" >"$target.new"
mv "$target.new" "$target"
echo "wrote $target"
