#!/usr/bin/env bash
# promtool out of Debian's package, unpacked here without being installed.
set -euo pipefail
[ -x usr/bin/promtool ] && exit 0
# A new machine knows no package until its lists are fetched once.
apt-get download prometheus || { apt-get update --quiet && apt-get download prometheus; }
dpkg-deb --extract prometheus_*.deb .
rm prometheus_*.deb usr/bin/prometheus
