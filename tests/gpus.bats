# SPDX-License-Identifier: MIT

bats_require_minimum_version 1.5.0
load helpers

# load_text TEXT ERROR: gschedule refuses this description with this error
load_text() {
	printf '%b' "$1" >"$BATS_TEST_TMPDIR/gpu"
	expect_failure 2 "$2" gschedule --gpu "$BATS_TEST_TMPDIR/gpu"
}

# has GPU LEVEL: whether that GPU has such a cache.
has() { ! grep -q "^$2.size  *= none  *#" "$1"; }

@test "a description may begin with a byte-order mark, and have lines that end in CRLF" {
	{ printf '\357\273\277'; sed 's/$/\r/' "$ROOT/gpus/titanv"; } >"$BATS_TEST_TMPDIR/windows"
	gtrace-cat --gpu "$BATS_TEST_TMPDIR/windows" | diff - <(gtrace-cat --gpu titanv)
}

@test "the pipe needs no other option than --gpu, with every description" {
	ordered gemm >"$BATS_TEST_TMPDIR/ordered"
	few 6 "$ROOT"/gpus/*
	for gpu in "${FEW[@]}"; do
		gcoalesce "$BATS_TEST_TMPDIR/ordered" | gschedule --gpu "${gpu##*/}" | gcache --l1 | gcache --l2 | gdram |
			gstats --csv >"$BATS_TEST_TMPDIR/out"
		if has "$gpu" l2; then
			grep -q '^total,l2,reads,[1-9]' "$BATS_TEST_TMPDIR/out" || { echo "$gpu"; return 1; }
		fi
		grep -q '^total,dram,reads,[1-9]' "$BATS_TEST_TMPDIR/out" || { echo "$gpu"; return 1; }
	done
}

@test "as many blocks as gtrace-cat --gpu says fit an SM, and fewer with a byte or a register more" {
	few 6 "$ROOT"/gpus/*
	for gpu in "${FEW[@]}"; do
		gtrace-cat --gpu "$gpu" >"$BATS_TEST_TMPDIR/text"
		read -r warps blocks < <(sed -n 's/^blocks  *of up to \([0-9]*\) warps, if the SM is to hold \([0-9]*\)$/\1 \2/p' "$BATS_TEST_TMPDIR/text")
		registers=$(sed -n 's/^registers \([0-9]*\) a thread, if .*/\1/p' "$BATS_TEST_TMPDIR/text")
		shared=$(sed -n 's/^shared  *\([0-9.K]*\) a block, if .*/\1/p' "$BATS_TEST_TMPDIR/text" | numfmt --from=iec)
		for needs in "$registers $shared" "$registers $((shared + 1))" "$((registers + 1)) $shared"; do
			# shellcheck disable=SC2086 # two words
			printf '#kernel\tid=%s\tname=k\tgrid=100000,1,1\tblock=%s,1,1\tregisters=%s\tshared_bytes=%s\torder=block\n' \
				"$((++id))" "$((32 * warps))" $needs
		done | { echo '#gtrace'; cat; echo '#end'; } | gtrace-cat --from | gschedule --quiet --gpu "$gpu" | gtrace-cat |
			grep -oP 'resident_blocks=\K[0-9]+' >"$BATS_TEST_TMPDIR/held"
		{ read -r whole; read -r more_shared; read -r more_registers; } <"$BATS_TEST_TMPDIR/held"
		[ "$whole" -eq "$blocks" ] || { echo "$gpu: $whole for $blocks"; return 1; }
		[ "$more_shared" -lt "$blocks" ] || { echo "$gpu: $((shared + 1)) bytes"; return 1; }
		[ "$more_registers" -lt "$blocks" ] || { echo "$gpu: $((registers + 1)) registers"; return 1; }
	done
}

@test "every level that a description has can be modelled" {
	ordered conv >"$BATS_TEST_TMPDIR/ordered"
	few 4 "$ROOT"/gpus/*
	for gpu in "${FEW[@]}"; do
		gschedule --gpu "${gpu##*/}" "$BATS_TEST_TMPDIR/ordered" >"$BATS_TEST_TMPDIR/scheduled"
		for level in $(sed -n 's/^\([a-z0-9]*\)\.size .*/\1/p' "$gpu"); do
			case $level in *tlb) option="--tlb $level" ;; *) option=--$level ;; esac
			# shellcheck disable=SC2086
			gcache $option "$BATS_TEST_TMPDIR/scheduled" | gstats --csv | grep -q "^total,$level,reads," || { echo "$gpu $level"; return 1; }
		done
	done
}

@test "every description has what occupancy and the caches need" {
	awk 'BEGIN {
			always = "name architecture compute_capability sms schedulers max_warps max_blocks registers register_unit warp_unit " \
				"max_registers_thread shared shared_block shared_unit shared_banks shared_bank_bytes coalesce l1.size l2.size " \
				"dram.channels dram.banks dram.row"
			of_l1 = " l1.ways l1.line l1.index l1.replace l1.write"
			of_l2 = " l2.ways l2.line l2.sector l2.index l2.replace l2.write l2.allocate"
		}
		function check(    keys, n, i) {
			n = split(always (has_l1 ? of_l1 : "") (has_l2 ? of_l2 : ""), keys)
			for (i = 1; i <= n; i++)
				if (!(keys[i] in sourced)) { print file " has no " keys[i]; bad = 1 }
		}
		FNR == 1 { if (file) check(); file = FILENAME; files++; has_l1 = has_l2 = 1; split("", sourced) }
		/^[a-z0-9_.]+  *= .*# (vendor|standard|paper|measured|assumed): ......./ { sourced[$1] = 1 }
		/^l1.size  *= none  *#/ { has_l1 = 0 }
		/^l2.size  *= none  *#/ { has_l2 = 0 }
		END { check(); exit bad || files < 20 }' "$ROOT"/gpus/*
}

@test "every description is named in the manual" {
	for gpu in "$ROOT"/gpus/*; do
		grep -qE "^\.It Cm (.* )?${gpu##*/}( |$)" "$ROOT/man/gtrace-gpu.5" || { echo "$gpu"; return 1; }
	done
}

@test "what depends on the compute capability alone is the same in all its descriptions, and shared memory adds up" {
	# From 7.0 on; Fermi's two descriptions of one GPU have two sizes of shared memory.
	for gpu in "$ROOT"/gpus/*; do
		sed -n 's/^\([a-z0-9_.]*\)  *= \([^#]*[^# ]\)  *#.*/\1\t\2/p' "$gpu" | sed "s/^/${gpu##*/}\t/"
	done | awk -F'\t' '
		$2 == "compute_capability" { capability[$1] = $3 }
		{ value[$1, $2] = $3 }
		END {
			n = split("schedulers max_warps max_blocks registers register_unit warp_unit max_registers_thread shared shared_block " \
				"shared_unit shared_reserved shared_least shared_warps shared_room shared_room_none shared_options unified shared_banks shared_bank_bytes l1.size l1.line", keys, " ")
			for (gpu in capability) {
				if (capability[gpu] + 0 < 7)
					continue
				groups++
				for (i = 1; i <= n; i++) {
					at = capability[gpu] SUBSEP keys[i]
					if (!(at in first)) first[at] = gpu
					else if (value[first[at], keys[i]] "" != value[gpu, keys[i]] "") print gpu, first[at], keys[i]
				}
				options = split(value[gpu, "shared_options"], option, ",")
				if (option[options] != value[gpu, "shared"]) print gpu, "shared is not the last of shared_options"
				if (value[gpu, "l1.size"] != value[gpu, "unified"]) print gpu, "l1.size is not unified"
				if (value[gpu, "shared_block"] + value[gpu, "shared_reserved"] != value[gpu, "shared"] + 0)
					print gpu, "shared_block and shared_reserved are not shared"
				least = value[gpu, "shared_least"]
				if (least != "" && !index("," value[gpu, "shared_options"] ",", "," least ",")) print gpu, "shared_least is no option"
			}
			print groups
		}' >"$BATS_TEST_TMPDIR/out"
	run ! grep -Ev '^[0-9]+$' "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$BATS_TEST_TMPDIR/out")" -ge 15 ]
}

@test "channels, banks and rows of DRAM are those of its memory's standard" {
	# Memory, bits of a channel or pseudo channel, bytes of a row, the least banks.
	for gpu in "$ROOT"/gpus/*; do
		sed -n "s/^dram\.\([a-z]*\)  *= \([^ ]*\)  *# \(.*\)/${gpu##*/}\t\1\t\2\t\3/p" "$gpu"
	done | awk -F'\t' '
		BEGIN {
			split("HBM2 64 1K HBM3 32 1K HBM3e 32 1K GDDR6 16 2K GDDR6X 16 2K GDDR7 8 2K", word, " ")
			for (i = 1; i in word; i += 3) { bits[word[i]] = word[i + 1]; row[word[i]] = word[i + 2] }
		}
		$2 == "channels" && match($4, /(HBM|GDDR)[2-7][eX]?/) {
			memory = substr($4, RSTART, RLENGTH)
			match($4, /[0-9]+ bits/)
			bus = substr($4, RSTART, RLENGTH) + 0
			if ($4 ~ /6 stacks/) bus *= 6
			half = memory == "HBM2" && $4 ~ /128 a channel/ # two pseudo channels as one
			if ($3 * bits[memory] * (half ? 2 : 1) != bus) print $1, $3 " channels of " memory
			expected[$1] = half ? "2K" : row[memory]
			gpus++
		}
		$2 == "banks" && ($1 in expected) && $3 < 16 { print $1, $3 " banks" }
		$2 == "row" && ($1 in expected) && $3 != expected[$1] { print $1, "rows of " $3 }
		END { print gpus }' >"$BATS_TEST_TMPDIR/out"
	run ! grep -Ev '^[0-9]+$' "$BATS_TEST_TMPDIR/out"
	[ "$(cat "$BATS_TEST_TMPDIR/out")" -ge 14 ]
}

@test "values are those of the papers" {
	while read -r gpu key value source; do
		grep -q "^$key  *= $value  *# paper: $source" "$ROOT/gpus/$gpu" || { echo "$gpu $key"; return 1; }
	done <<-'END'
		titanv sms 80 .004. table 3
		titanv l2.size 4.5M .004. table 3
		gtx970 sms 26 .000. table 5
		gtx970 l1.size 24K .000. table 5
		gtx970 l1.ways 192 .000. table 5
		gtx970 l2.size 1792K .000. table 5
		gtx970 l2.ways 8 .000. table 5
		gtx970 l1.ports 2 .000. 4.4.2
		gtx970 l1.mshr 1x32 .000. 4.4.2
		gtx970 l1.merges 8 .000. 4.4.2
		gtx970 l2.mshr 4x32 .000. 4.4.2
		gtx970 l2.index xor .000. table 5
		gtx970 l2.partitions 7 .000. figure 1
		gt740m sms 2 .000. table 5
		gt740m l2.size 512K .000. table 5
		gtx560ti l1.size 16K .001. table 4
		gtx560ti l2.size 512K .001. table 1
		gtx780 l2.size 1536K .001. table 1
		gtx780 l1tlb.size 32M .001. table 4
		gtx780 l2tlb.size 130M .001. table 4
		gtx780 texture.size 12K .001. table 4
		gtx470-16k l1.ways 4 .002. 3.2
		gtx470-48k l1.ways 6 .002. 5.1
		a30 l2.size 24M .003. table 1
	END
}

@test "[001] table 1: the three GPUs" {
	value() { sed -n "s/^$2  *= \([^#]*[^# ]\)  *#.*/\1/p" "$ROOT/gpus/$1"; }
	# The two later ones have 16K of L1 and 48K of shared memory, of 64K; Kepler's L1 does not cache global memory.
	while read -r gpu compute shared banks bytes l1 l2 bypass; do
		[ "$(value "$gpu" compute_capability)" = "$compute" ]
		[ "$(value "$gpu" shared)" = "$shared" ]
		[ "$(value "$gpu" shared_banks)" = "$banks" ]
		[ "$(value "$gpu" shared_bank_bytes)" = "$bytes" ]
		[ "$(value "$gpu" l1.size)" = "$l1" ]
		[ "$(value "$gpu" l2.size)" = "$l2" ]
		[ "$(value "$gpu" l1.bypass)" = "${bypass:-}" ]
	done <<-'END'
		gtx280 1.3 16K 16 4 none none
		gtx560ti 2.1 48K 32 4 16K 512K
		gtx780 3.5 48K 32 8 16K 1536K all
	END
	[ "$(value gtx780 shared_bank_unit)" = 4 ]
	[ "$(value gtx780 window.size)" = 512M ]
	# gpchase.bats tests the latencies of tables 3 and 5 with chains of levels.
}

@test "a description can have a GPU without caches, and all requests bypass them" {
	ordered gemm | gcoalesce | gschedule --gpu gtx280 >"$BATS_TEST_TMPDIR/s"
	gcache --l1 "$BATS_TEST_TMPDIR/s" | gcache --l2 >"$BATS_TEST_TMPDIR/passed"
	diff <(gtrace-cat "$BATS_TEST_TMPDIR/s" | grep -v '^#') <(gtrace-cat "$BATS_TEST_TMPDIR/passed" | grep -v '^#')
	gdram "$BATS_TEST_TMPDIR/passed" | gstats --csv >"$BATS_TEST_TMPDIR/out"
	gtrace-cat --check "$BATS_TEST_TMPDIR/passed"
	for level in l1 l2; do
		grep -q "^total,$level,size,none$" "$BATS_TEST_TMPDIR/out"
		run ! grep "^total,$level,\(sets\|ways\|line\)," "$BATS_TEST_TMPDIR/out"
	done
	gtrace-cat --gpu gtx280 | grep -q '^l1  *none$'
	# An option can add one.
	gcache --l1 --size 16K "$BATS_TEST_TMPDIR/s" | gstats --csv | grep -q '^total,l1,read_hits,[1-9]'
	expect_failure 2 "leave an absent TLB out of the pipe" gcache --tlb l1tlb --size none "$BATS_TEST_TMPDIR/s"
}

@test "gtrace-cat --gpu shows the values derived from a description" {
	gtrace-cat --gpu gtx470-48k >"$BATS_TEST_TMPDIR/out"
	grep -q '^l1  *384 lines of 128, 64 sets of 6, 7 offset bits, 6 index bits by fermi$' "$BATS_TEST_TMPDIR/out"
	grep -q '^l2tlb  *65 lines of 2M, sets of 17,8x6 ways$' "$BATS_TEST_TMPDIR/out"
	gtrace-cat --gpu "$ROOT/gpus/titanv" >"$BATS_TEST_TMPDIR/out"
	grep -q '^l2  *36864 lines of 128 in 4 sectors, 2304 sets of 16' "$BATS_TEST_TMPDIR/out"
	grep -q '^l1  *1024 lines of 128 in 4 sectors, 4 sets of 256' "$BATS_TEST_TMPDIR/out"
	grep -q '^adaptive  *l1 from 25K to 121K' "$BATS_TEST_TMPDIR/out"
	grep -q '^sms  *80  *paper  *\[004\] table 3$' "$BATS_TEST_TMPDIR/out"
	for gpu in "$ROOT"/gpus/*; do
		gtrace-cat --gpu "$gpu" >/dev/null
	done
}

@test "a bad description is refused, with its line" {
	load_text 'sms = 80 # vendor: x\nl3.size = 4M # vendor: x\n' "gpu:2: 'l3.size': unknown key"
	load_text 'sms = 80\n' "gpu:1: sms: expected '# status: source'"
	load_text 'sms = 80 # vendor\n' "gpu:1: sms: expected '# status: source'"
	load_text 'sms = 80 # vendor:\n' "gpu:1: sms: expected '# status: source'"
	load_text 'sms = 80 # rumour: x\n' "gpu:1: sms: expected '# status: source'"
	load_text '\n# x\nsms = 80 # vendor: x\nsms = 81 # vendor: x\n' "gpu:4: sms: given twice"
	load_text 'sms = many # vendor: x\n' "gpu:1: sms: 'many': expected a whole number"
	load_text 'l2.size = 4.3 # vendor: x\n' "gpu:1: l2.size: '4.3': expected a size"
	load_text 'l1.ways = 0 # vendor: x\n' "gpu:1: l1.ways"
	load_text 'l1.ways = full/0 # vendor: x\n' "gpu:1: l1.ways: 'full/0': expected a number of ways"
	load_text 'l1.ways = half # vendor: x\n' "gpu:1: l1.ways: 'half': expected a number of ways"
	load_text 'shared_options = 0,16K,8K # vendor: x\n' "gpu:1: shared_options: '8K': expected sizes in rising order"
	load_text 'l2.write = bakc # vendor: x\n' "gpu:1: l2.write: 'bakc': expected back, through or evict"
	load_text 'l2.merges = few # vendor: x\n' "gpu:1: l2.merges: 'few': expected a whole number from 0 to 1048576, or unlimited"
	load_text 'l1.index = a b # vendor: x\n' "gpu:1: l1.index: 'a b': expected one word"
	load_text 'sms 80 # vendor: x\n' "gpu:1: expected 'key = value"
	load_text "sms = $(printf '%0300d' 1) # vendor: x\n" "gpu:1: expected a value of at most 255 bytes"
	load_text "sms = 1 # vendor: $(printf '%02000d' 1)\n" "gpu:1: expected a line of text"
	load_text 'sms = 80 # ven\0000dor: x\n' "gpu:1:"
	load_text '' "expected at least one value"
	expect_failure 2 "no such GPU: did you mean 'titanv'? expected a file or one of a100, a30" gschedule --gpu titan
	expect_failure 2 "No such file" gschedule --gpu ./titan
	expect_failure 2 "Is a directory" gschedule --gpu "$BATS_TEST_TMPDIR/"
}

@test "descriptions are found by path, in GTRACE_GPUS, and beside the program" {
	mkdir -p "$BATS_TEST_TMPDIR/mine"
	sed 's/^sms .*/sms = 3 # assumed: a test/' "$ROOT/gpus/titanv" >"$BATS_TEST_TMPDIR/mine/tiny"
	cd "$BATS_TEST_TMPDIR"
	for name in "GTRACE_GPUS=mine gschedule --gpu tiny" "gschedule --gpu mine/tiny" "cd mine; gschedule --gpu tiny"; do
		ordered gemm | bash -c "$name" | gtrace-cat --no-rows | tr '\t' '\n' | grep -qx sms=3
	done
	expect_failure 2 "is not a directory" env GTRACE_GPUS=nowhere gschedule --gpu tiny
}

@test "the commands of the manual run" {
	TMPDIR=$BATS_TEST_TMPDIR run_man_examples gtrace-gpu.5
}

# Each parameter of a level in a line of --help: option, form, text, [default; defaults of levels].
level_options() {
	gcache --help | awk '
		function out() { if (line ~ /\]$/) print line; line = "" }
		/^      --/ { out(); sub(/^ +/, ""); line = $0; next }
		/^               / && line != "" { sub(/^ +/, " "); line = line $0; next }
		{ out() }' | sed 's/  */ /g'
}

# The values that a line of level_options lists: the default and the words, with values for the parts in capitals.
listed_values() {
	sed -E 's/.*\[([^];]*)(;[^]]*)?\]$/\1/' <<<"$1"
	cut -d ' ' -f 2 <<<"$1" | tr '|' '\n' | sed -nE '/^[a-z-]+$/p'
	case $1 in
	--index* | --interleave* | --replace* | --latency*)
		sed -E 's/^--[a-z]+ [^ ]+ //; s/ \[[^]]*\]$//; s/^.*(line|served|set): //; s/ \([^)]*\)//; s/, /\n/g' <<<"$1" |
			sed -E 's/\[:SEED\]/:3/; s/\[,SEED\]//; s/:N$/:3/; s/:SUM.*/:7,8/; s/:DIGITS/:0123/; s/:WAY.*/:1,2/; s/:W,W.*/:1\/2,1\/2/; s/:K1,K2/:1,2/; s/:MIN.*/:1,2,3/' ;;
	esac
}

@test "options of a level, keys of descriptions and the manual agree; each value that --help lists is accepted" {
	level_options >"$BATS_TEST_TMPDIR/options"
	sed -n '/^\.Ss A cache level/,/^\.Ss DRAM/p' man/gtrace-gpu.5 | sed -n 's/^\.It Cm //p' | tr -s ' ,' '\n' | sort >"$BATS_TEST_TMPDIR/keys"
	diff <(cut -d ' ' -f 1 "$BATS_TEST_TMPDIR/options" | sed 's/^--//; y/-/_/' | sort) "$BATS_TEST_TMPDIR/keys"
	while read -r line; do
		option=${line%% *}
		key=${option#--}
		while read -r value; do
			run gcache --name x "$option" "$value" </dev/null
			[[ $output != *"$option:"* ]]
			[[ $output == "gcache: "* ]]
			echo "l2.${key//-/_} = $value # assumed: a test" >"$BATS_TEST_TMPDIR/gpu"
			gtrace-cat --gpu "$BATS_TEST_TMPDIR/gpu"
		done < <(listed_values "$line" | few_lines 1)
	done < <(few_lines 12 <"$BATS_TEST_TMPDIR/options")
}

@test "of keys that belong to no level, exactly those in the manual are accepted" {
	sed -n '/^\.Ss The GPU/,/^\.Ss A cache level/p; /^\.Ss DRAM/,/^\.Sh/p' man/gtrace-gpu.5 | sed -n 's/^\.It Cm //p' | tr -s ' ,' '\n' >"$BATS_TEST_TMPDIR/keys"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/keys")" -eq "$(sed -n '/keys\[\] = {/,/^};/p' lib/gpu/gpu.c | grep -c '{"')" ]
	local n=0
	while read -r key; do
		case $key in
		gpc_again) value=32,32 ;;
		*) value=32 ;;
		esac
		printf '%s = %s # assumed: a test\n' "$key" "$value" >"$BATS_TEST_TMPDIR/gpu"
		gtrace-cat --gpu "$BATS_TEST_TMPDIR/gpu" | grep -q "^$key  *$value "
		[ -n "${WHOLE:-}" ] || [ $((n++ % 8)) -eq 0 ] || continue
		printf '%sx = 32 # assumed: a test\n' "$key" >"$BATS_TEST_TMPDIR/gpu"
		expect_failure 1 "unknown key" gtrace-cat --gpu "$BATS_TEST_TMPDIR/gpu"
	done <"$BATS_TEST_TMPDIR/keys"
}

@test "a key has the effect of the option with its name" {
	gtrace-order examples/traces/gemm.rdgc.xz | gcoalesce >"$BATS_TEST_TMPDIR/in.gt"
	while read -r level key value differs options; do
		{
			cat gpus/titanv
			printf '%s # assumed: a test\n' 'l2.partitions = 2' 'l2.banks = 2'
		} >"$BATS_TEST_TMPDIR/without"
		{
			cat "$BATS_TEST_TMPDIR/without"
			echo "$level.$key = $value # assumed: a test"
		} >"$BATS_TEST_TMPDIR/with"
		gschedule --gpu "$BATS_TEST_TMPDIR/without" <"$BATS_TEST_TMPDIR/in.gt" >"$BATS_TEST_TMPDIR/without.gt"
		gschedule --gpu "$BATS_TEST_TMPDIR/with" <"$BATS_TEST_TMPDIR/in.gt" >"$BATS_TEST_TMPDIR/with.gt"
		rows() { "$@" | gtrace-cat | grep -vE '^#(history|gpu)'; }
		# shellcheck disable=SC2086
		rows gcache --$level $options "$BATS_TEST_TMPDIR/with.gt" >"$BATS_TEST_TMPDIR/key"
		# shellcheck disable=SC2086
		rows gcache --$level $options --${key//_/-} $value "$BATS_TEST_TMPDIR/without.gt" >"$BATS_TEST_TMPDIR/option"
		# shellcheck disable=SC2086
		rows gcache --$level $options "$BATS_TEST_TMPDIR/without.gt" >"$BATS_TEST_TMPDIR/neither"
		cmp "$BATS_TEST_TMPDIR/key" "$BATS_TEST_TMPDIR/option"
		run cmp -s "$BATS_TEST_TMPDIR/key" "$BATS_TEST_TMPDIR/neither"
		[ "$status" -eq "$differs" ]
	done < <(few_lines 5 <<-'TABLE'
		l2 interleave two-level 1
		l2 emit none 1
		l2 operators no 0
		l2 warm allocations 0
		l1 hit_latency 3 1 --ports 1
		l1 per_warp_mshr 1 1 --mshr 1x8 --latency fixed:40
		l1 on_full requeue 1 --mshr 1x8 --latency fixed:40
		l1 requeue_unit access 1 --mshr 1x32 --on-full requeue --latency fixed:40
		l1 issue gto 1 --ports 1
		l1 schedulers 3 1 --ports 1 --issue rr
		l1 delay 2 1 --issue rr --latency fixed:40
		l1 clip no 1 --on-full requeue --mshr 1x8 --latency fixed:40
	TABLE
	)
}

# bats test_tags=whole
@test "a description that lacks keys: each is named, with the file" {
	cd "$BATS_TEST_TMPDIR"
	ordered gemm >in.gt
	echo 'name = X # vendor: y' >no-sms
	expect_failure 2 "--gpu: ./no-sms has no sms, max_warps, max_blocks, registers, shared, l1.size, l2.size: expected at least the key sms" \
		gschedule --gpu ./no-sms in.gt
	expect_failure 2 "./no-sms has no sms" gtrace run --quiet --gpu ./no-sms "$ROOT/examples/traces/gemm.rdgc.xz"
	printf '%s # vendor: y\n' 'sms = 4' 'max_warps = 48' 'max_blocks = 8' 'l2.size = none' >some
	gschedule --gpu ./some in.gt 2>said >out.gt
	grep -qx "gschedule: warning: ./some has no registers, shared, l1.size: what it lacks limits no SM, and caches have gcache's own size" said
	[ "$(wc -l <said)" -eq 1 ]
	for gpu in "$ROOT"/gpus/*; do
		gschedule --gpu "$gpu" in.gt 2>&1 >out.gt | diff /dev/null -
	done
	# Options fill what is absent; a description in the stream is told apart from none.
	gschedule --gpu ./no-sms --sm 4 in.gt 2>said >out.gt
	grep -q "has no max_warps" said
	{ printf '#gpu\tname=X\n'; gtrace-cat in.gt; } | gtrace-cat --from >described.gt
	expect_failure 1 "the stream's GPU description has no sms: expected --gpu NAME or --sm N" gschedule described.gt
	expect_failure 1 "the stream has no GPU description" gschedule in.gt
}
