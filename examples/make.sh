#!/usr/bin/env sh
# Makes the example: 200 pairs, and two systems that err in different ways.
set -eu
cd "$(dirname "$0")"
padir=${PADIR:-../target/release/padir}
"$padir" data make everyday --train 200 --dev 0 --test 0 --seed 7 --out-dir pairs --quiet
mv pairs/train.en source.en
mv pairs/train.de reference.de
rm -r pairs
# An autoregressive system, say: fluent, but every third sentence has a wrong number or noun.
awk 'NR % 3 == 0 { gsub("zig", "zehn"); sub("Baum", "Busch"); sub("Haus", "Heim") } { print }' reference.de > fluent.de
# A parallel one: every fourth sentence says its third word twice and forgets its fourth.
awk 'NR % 4 == 0 && NF > 3 { $4 = $3 } { print }' reference.de > stutter.de
