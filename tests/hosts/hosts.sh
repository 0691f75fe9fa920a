# Sourced. "Hosts" on one machine: network namespaces on a bridge, each with its own name and address. Needs root.
#
#   hosts_up 2              makes node1 and node2, and $hosts_folder with hostfile and agent
#   on_host node1 COMMAND   runs a command there; the folder $hosts_folder/unshared is another one on each host
#   hosts_limit node1 100mbit   slows its link down
#   hosts_down              ends what still runs there and removes everything

hosts_prefix="ddpkit$$"

# Why hosts cannot be made here, or nothing.
hosts_impossible() {
  local tool
  [ "$(id -u)" = 0 ] || { echo "making network namespaces needs root"; return; }
  for tool in ip nsenter unshare mpirun; do
    command -v $tool > /dev/null || { echo "$tool is not installed (packages iproute2, util-linux, openmpi-bin)"; return; }
  done
  ip netns add "${hosts_prefix}try" 2> /dev/null || { echo "this container may not make network namespaces"; return; }
  ip netns del "${hosts_prefix}try"
}

hosts_up() {
  local number switch="${hosts_prefix}switch"
  hosts_folder=$(mktemp -d)
  mkdir "$hosts_folder/unshared"
  echo "127.0.0.1 localhost" > "$hosts_folder/etc_hosts"
  ip netns add "$switch"
  ip -n "$switch" link add bridge type bridge
  ip -n "$switch" link set bridge up
  for number in $(seq "$1"); do
    local space="${hosts_prefix}node$number"
    ip netns add "$space"
    ip -n "$space" link set lo up
    ip link add eth0 netns "$space" type veth peer name "port$number" netns "$switch"
    ip -n "$switch" link set "port$number" master bridge up
    ip -n "$space" addr add "10.55.0.$number/24" dev eth0
    ip -n "$space" link set eth0 up
    echo "10.55.0.$number node$number" >> "$hosts_folder/etc_hosts"
    echo "node$number slots=2" >> "$hosts_folder/hostfile"
  done
  # mpirun calls it in place of ssh: agent HOST WORDS...
  printf '#!/usr/bin/env bash\nsource "%s"\nhosts_prefix=%s hosts_folder=%s\nhost=$1\nshift\non_host "$host" bash -c "$*"\n' \
    "$(realpath "${BASH_SOURCE[0]}")" "$hosts_prefix" "$hosts_folder" > "$hosts_folder/agent"
  chmod +x "$hosts_folder/agent"
}

on_host() {
  local host=$1
  shift
  nsenter --net="/run/netns/$hosts_prefix$host" unshare --uts --mount bash -c '
    hostname "$1"
    mount --bind "$2/etc_hosts" /etc/hosts
    mount -t tmpfs none "$2/unshared"
    shift 2
    exec "$@"' on_host "$host" "$hosts_folder" "$@"
}

# hosts_limit HOST RATE: what the host sends from now on, such as 100mbit. Fails where the kernel cannot.
hosts_limit() {
  nsenter --net="/run/netns/$hosts_prefix$1" tc qdisc replace dev eth0 root tbf rate "$2" burst 512kb latency 400ms
}

hosts_down() {
  local space process
  for space in $(ip netns list | awk -v prefix="^$hosts_prefix" '$1 ~ prefix {print $1}'); do
    for process in $(ip netns pids "$space"); do kill -KILL "$process" 2> /dev/null; done
    ip netns del "$space"
  done
  rm -rf "$hosts_folder"
}
