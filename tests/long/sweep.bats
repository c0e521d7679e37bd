#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sweeps with real engines: a Slurm of one node and an sshd on loopback, started and stopped here. make deps-long installs
# them; without them the tests are skipped, visibly.

bats_require_minimum_version 1.5.0

setup() {
	cd "$ROOT" || return 1
	results=$BATS_TEST_TMPDIR/results
	sweep=$BATS_TEST_TMPDIR/test.sweep
	# A short path, for the sockets.
	work=$(mktemp -d /tmp/gtrace-engine-XXXXXX)
	cat >"$sweep" <<-'END'
		input broken = false
		trace = examples/traces/conv.rdgc.xz examples/traces/gemm.rdgc.xz broken
		gpu = titanv
		l1.size = 8K 16K 32K 64K
		map = rr part:4 random:1
	END
	run_sweep || [ $? -eq 2 ]
	cp "$results/test.csv" "$BATS_TEST_TMPDIR/made"
	rm -rf "$results"
}

teardown() {
	local pid
	for pid in "$work"/*.pid; do
		if [ -e "$pid" ]; then kill "$(cat "$pid")" 2>/dev/null || :; fi
	done
	sleep 1
	rm -rf "$work"
}

run_sweep() {
	make -s -f pipelines/sweep.mk SWEEP="$sweep" RESULTS="$results" "$@" >"$BATS_TEST_TMPDIR/stdout" \
		2>"$BATS_TEST_TMPDIR/stderr"
}

need() {
	local program
	for program in "$@"; do
		type -P "$program" >/dev/null || skip "no $program: make deps-long"
	done
}

# A free port.
free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

start_slurm() {
	local host user
	host=$(hostname -s)
	user=$(id -un)
	mkdir "$work/state" "$work/spool"
	chmod 700 "$work"
	head -c 1024 /dev/urandom >"$work/key"
	chmod 400 "$work/key"
	munged --force --key-file="$work/key" --socket="$work/munge" --pid-file="$work/munge.pid" \
		--log-file="$work/munge.log" --seed-file="$work/seed" 3>&-
	cat >"$work/slurm.conf" <<-END
		ClusterName=sweep
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=$(free_port)
		SlurmdPort=$(free_port)
		SlurmUser=$user
		SlurmdUser=$user
		AuthType=auth/munge
		AuthInfo=socket=$work/munge
		CredType=cred/munge
		StateSaveLocation=$work/state
		SlurmdSpoolDir=$work/spool
		SlurmctldPidFile=$work/slurmctld.pid
		SlurmdPidFile=$work/slurmd.pid
		SlurmctldLogFile=$work/slurmctld.log
		SlurmdLogFile=$work/slurmd.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core
		AccountingStorageType=accounting_storage/none
		JobAcctGatherType=jobacct_gather/none
		NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
		PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
	END
	export SLURM_CONF=$work/slurm.conf
	slurmctld -f "$SLURM_CONF" 3>&-
	slurmd -f "$SLURM_CONF" 3>&-
	for _ in $(seq 30); do
		if sinfo --noheader --format=%t 2>/dev/null | grep -q idle; then return 0; fi
		sleep 1
	done
	cat "$work"/*.log
	return 1
}

start_sshd() {
	port=$(free_port)
	ssh-keygen -q -t ed25519 -N '' -f "$work/host"
	ssh-keygen -q -t ed25519 -N '' -f "$work/user"
	[ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
	"$(type -P sshd)" -f /dev/null -p "$port" -h "$work/host" -o ListenAddress=127.0.0.1 -o UsePAM=no \
		-o StrictModes=no -o AuthorizedKeysFile="$work/user.pub" -o PidFile="$work/sshd.pid" 3>&-
	remote="ssh -p $port -i $work/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=$work/known -o LogLevel=ERROR"
	$remote 127.0.0.1 true
}

@test "Slurm gives the same bytes as make, failures included" {
	PATH=$PATH:/usr/sbin:/sbin
	need munged slurmctld slurmd sbatch
	start_slurm
	run ! run_sweep ENGINE=slurm
	diff "$BATS_TEST_TMPDIR/made" "$results/test.csv"
	grep -q '^sweep: false | gcoalesce' "$BATS_TEST_TMPDIR/stderr"
	rm "$(find "$results/parts" -maxdepth 1 -name '????????????????.csv' | sort | head -n 1)"
	run ! run_sweep ENGINE=slurm SBATCH='--time=10'
	diff "$BATS_TEST_TMPDIR/made" "$results/test.csv"
}

@test "parallel over ssh gives the same bytes as make, failures included" {
	PATH=$PATH:/usr/sbin:/sbin
	need sshd ssh-keygen parallel
	start_sshd
	run ! run_sweep ENGINE=parallel HOSTS=127.0.0.1 SSH="$remote"
	diff "$BATS_TEST_TMPDIR/made" "$results/test.csv"
	grep -q '^sweep: false | gcoalesce' "$BATS_TEST_TMPDIR/stderr"
}

@test "a pipe on two hosts prints the same as on one" {
	PATH=$PATH:/usr/sbin:/sbin
	need sshd ssh-keygen
	start_sshd
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce | gschedule --gpu titanv | gcache --l1 | gcache --l2 | gdram |
		gstats >"$BATS_TEST_TMPDIR/one"
	gtrace-order examples/traces/conv.rdgc.xz | gcoalesce | zstd -q |
		$remote 127.0.0.1 "cd '$ROOT' && PATH='$PATH' && zstd -dcq | gschedule --gpu titanv | gcache --l1" |
		gcache --l2 | gdram | gstats | diff "$BATS_TEST_TMPDIR/one" -
}
