#!/bin/sh
# Makes a private authority and a certificate signed by it for each service, for mutual TLS.
# What is there and still valid for a while is kept, so it may run before every start.
#
#   make-certs.sh AUTHORITY_DIR CERTIFICATES_DIR SERVICE...
#
# AUTHORITY_DIR holds the authority's key: no service may see it. CERTIFICATES_DIR gets authority.pem and
# SERVICE/{certificate,key}.pem; a certificate names its service, and localhost for the service's own health probe.
set -eu
umask 077

AUTHORITY_DAYS=3650
CERTIFICATE_DAYS=825
RENEW_SECONDS=$((30 * 24 * 3600))

if [ $# -lt 3 ]; then
  echo "usage: $0 AUTHORITY_DIR CERTIFICATES_DIR SERVICE..." >&2
  exit 64
fi
authority=$1
certificates=$2
shift 2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

new_key() {
  openssl ecparam -name prime256v1 -genkey -noout -out "$1"
}

is_fresh() {
  [ -s "$1" ] && openssl x509 -in "$1" -noout -checkend "$RENEW_SECONDS" >/dev/null 2>&1
}

make_authority() {
  new_key "$scratch/authority.key"
  openssl req -x509 -new -sha256 -key "$scratch/authority.key" -days "$AUTHORITY_DAYS" \
    -subj "/O=Nodeloom/CN=Nodeloom services" \
    -addext "keyUsage=critical,keyCertSign,cRLSign" -out "$scratch/authority.pem"
  mv "$scratch/authority.key" "$authority/key.pem"
  mv "$scratch/authority.pem" "$authority/certificate.pem"
  echo "made a new authority"
}

make_certificate() {
  service=$1
  new_key "$scratch/$service.key"
  openssl req -new -sha256 -key "$scratch/$service.key" -subj "/O=Nodeloom/CN=$service" -out "$scratch/$service.csr"
  cat >"$scratch/$service.cnf" <<EXTENSIONS
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = DNS:$service, DNS:localhost, IP:127.0.0.1
EXTENSIONS
  openssl x509 -req -sha256 -in "$scratch/$service.csr" -days "$CERTIFICATE_DAYS" -extfile "$scratch/$service.cnf" \
    -CA "$authority/certificate.pem" -CAkey "$authority/key.pem" -set_serial "0x$(openssl rand -hex 16)" \
    -out "$scratch/$service.pem" 2>/dev/null
  mkdir -p "$certificates/$service"
  mv "$scratch/$service.key" "$certificates/$service/key.pem"
  mv "$scratch/$service.pem" "$certificates/$service/certificate.pem"
  echo "made a certificate for $service"
}

is_signed() {
  is_fresh "$certificates/$1/certificate.pem" && [ -s "$certificates/$1/key.pem" ] &&
    openssl verify -CAfile "$authority/certificate.pem" "$certificates/$1/certificate.pem" >/dev/null 2>&1
}

mkdir -p "$authority" "$certificates"
if ! is_fresh "$authority/certificate.pem" || [ ! -s "$authority/key.pem" ]; then
  make_authority
fi
cp "$authority/certificate.pem" "$scratch/public.pem"
mv "$scratch/public.pem" "$certificates/authority.pem"

for name in "$@"; do
  is_signed "$name" || make_certificate "$name"
done
