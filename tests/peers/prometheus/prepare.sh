#!/usr/bin/env bash
# promtool out of Debian's package, unpacked here without being installed.
set -euo pipefail
[ -x usr/bin/promtool ] && exit 0
apt-get download prometheus
dpkg-deb --extract prometheus_*.deb .
rm prometheus_*.deb usr/bin/prometheus
