# Nodes in one guest: node i (from 0) has the device rxe<i> with the address
# 10.9.0.<i+1> on the interface node<i>, and all are on one switch.
#
# rxe carries nothing between network namespaces on this kernel, so all are in
# one. That has the addresses of all nodes and would deliver packets among them by
# itself: rules send what a node says to another over its own interface.

nodes_up() { # N
  ip link add switch type bridge
  ip link set switch mtu 4200 up
  echo 0 > /proc/sys/net/ipv4/conf/all/rp_filter
  i=0
  while [ $i -lt $1 ]; do
    own=10.9.0.$((i + 1))
    ip link add node$i type veth peer name port$i
    ip link set port$i master switch mtu 4200 up
    for setting in accept_local=1 rp_filter=0 arp_announce=2 arp_ignore=1; do
      echo ${setting#*=} > /proc/sys/net/ipv4/conf/node$i/${setting%=*}
    done
    ip addr add $own/32 dev node$i
    ip link set node$i mtu 4200 up
    # What comes in is for this machine; what goes out takes the wire.
    ip rule add pref 1 iif node$i lookup local
    ip route add 10.9.0.0/24 dev node$i src $own table $((100 + i))
    ip rule add pref 2 from $own to 10.9.0.0/24 lookup $((100 + i))
    rdma link add rxe$i type rxe netdev node$i || return 1
    i=$((i + 1))
  done
  ip rule add pref 10 lookup local
  ip rule del pref 0
  i=0
  while [ $i -lt $1 ]; do
    gid_ready rxe$i || return 1
    i=$((i + 1))
  done
}

# The IPv4 address has become a GID.
gid_ready() { # DEVICE
  tries=0
  until grep -q ':ffff:0a09:' /sys/class/infiniband/$1/ports/1/gids/* 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { echo "error: $1 has no GID of its address"; return 1; }
    sleep 0.05
  done
}

# One machine of two: 10.9.0.<k+1> on a card of its own.
machine_up() { # K
  card=$(ls /sys/class/net | grep -v '^lo$' | grep -v '^bonding' | head -n 1)
  ip addr add 10.9.0.$(($1 + 1))/24 dev $card
  ip link set $card mtu 4200 up
  rdma link add rxe$1 type rxe netdev $card && gid_ready rxe$1
}

other_machine() { # K: this one
  tries=0
  until ping -c 1 -W 1 10.9.0.$((2 - $1)) > /dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 60 ] || { echo "FAIL: the other machine does not answer"; return 1; }
  done
}

lossy() { # PERCENT: of what every node sends
  for card in /sys/class/net/node*; do
    tc qdisc replace dev ${card##*/} root netem loss $1% || return 1
  done
}
lossless() {
  for card in /sys/class/net/node*; do
    tc qdisc del dev ${card##*/} root
  done
}
cut_link() { # NODE
  tc qdisc replace dev node$1 root netem loss 100%
  ip link set port$1 down
}
