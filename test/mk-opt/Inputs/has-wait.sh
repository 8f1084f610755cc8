#!/bin/sh
# Interesting is what still has a wait.
! grep -q mk.wait "$1"
