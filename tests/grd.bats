# SPDX-License-Identifier: MIT
load helpers

setup() {
	cd "$BATS_TEST_TMPDIR"
	tab=$'\t'
}

# requests LINE...: a stream of loads of these 128-byte lines, one kernel; "/" begins the next.
requests() {
	local kernel=1 an=0 line
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		for line; do
			if [ "$line" = / ]; then
				printf '#kernel\tid=%d\tname=k\tgrid=1,1,1\tblock=32,1,1\n' $((++kernel))
				continue
			fi
			printf '0\t0\t%d\t0\tload.global\t%d\t15\t0\t1\t%d\n' $((an++)) $((line * 128)) $kernel
		done
	} | gtrace-cat --from
}

# threads ADDRESS...: a stream of loads by one thread.
threads() {
	local an=0 address
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n'
		for address; do
			printf '0\t0\t%d\t0\tload.global\t4\t1\t%d\t0\t-\t1\n' $((an++)) "$address"
		done
	} | gtrace-cat --from
}

distances() { grd --distances "$@" | awk 'NR > 1 { printf "%s%s", separator, $9; separator = " " }'; }
# column NAME: a column of a table.
column() { awk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }'; }
rows() { gtrace-cat | grep -v '^#'; }

@test "[000] table 1: distances, 50 % hits with four blocks, 25 % with two" {
	requests 1 2 3 4 1 1 4 3 >stream
	[ "$(distances <stream)" = "inf inf inf inf 3 0 1 2" ]
	[ "$(grd --lines 4,2 <stream | column hit_ratio | paste -sd ' ')" = "0.500000 0.250000" ]
	[ "$(grd --lines 4 <stream | column capacity)" -eq 0 ]
	[ "$(grd --mru 4 <stream | column count | paste -sd ' ')" = "1 1 1 1 4" ]
}

@test "[002] table 1 and figure 1: by address and by line, 42 % compulsory and 14 % capacity misses" {
	threads 0 20 12 36 12 12 20 >stream
	[ "$(distances --granularity address <stream)" = "inf inf inf inf 1 0 2" ]
	[ "$(distances --granularity address:16 <stream)" = "inf inf 1 inf 1 0 2" ]
	threads 0 160 96 288 96 96 160 >wide
	[ "$(distances --granularity line <wide)" = "inf inf 1 inf 1 0 2" ]
	grd --lines 2 <wide >table
	[ "$(column compulsory <table)" -eq 3 ]
	[ "$(column capacity <table)" -eq 1 ]
	[ "$(column compulsory_ratio <table)" = 0.428571 ]
	[ "$(column capacity_ratio <table)" = 0.142857 ]
	diff <(grd --profile <wide | cut -f 2,4) <(printf 'distance\tcount\n0\t1\n1\t2\n2\t1\ninf\t3\n')
}

@test "[002] table 2: four threads, two loads each, a warp of one thread" {
	{
		echo "#kernel id=1 name=k grid=4,1,1 block=1,1,1"
		for an in 0 1; do
			for thread in 0 1 2 3; do
				printf '%d %d 0 R 0x%x 4\n' $an $thread $(((2 * thread + an) * 32))
			done
		done
	} >trace
	gtrace-order --by an trace | distances >found
	[ "$(cat found)" = "inf 0 inf 0 1 0 1 0" ]
	gtrace-order trace | gschedule --sm 1 --max-blocks 4 | distances >found
	[ "$(cat found)" = "inf 0 inf 0 1 0 1 0" ]
}

@test "[004] table 1: lines of two addresses" {
	threads 2 4 6 2 3 6 | distances --granularity address:2 >found
	[ "$(cat found)" = "inf inf inf 2 0 1" ]
}

@test "as a filter it changes no row and adds its counts before the next kernel" {
	requests 0 1 0 2 0 0 1 / 5 5 >stream
	grd <stream >out
	diff <(rows <stream) <(rows <out)
	gtrace-cat out | grep '^#kernel\|^#count' | cut -f 1-3,6- >found
	diff found - <<-END
		#kernel${tab}id=1${tab}name=k${tab}registers=0${tab}shared_bytes=0${tab}order=none${tab}l1_bytes=0
		#count${tab}stage=reuse${tab}kernel=1${tab}references=7${tab}infinite=3${tab}distance=[1,2,1]${tab}far=[]
		#kernel${tab}id=2${tab}name=k${tab}registers=0${tab}shared_bytes=0${tab}order=none${tab}l1_bytes=0
		#count${tab}stage=reuse${tab}kernel=2${tab}references=2${tab}infinite=1${tab}distance=[1]${tab}far=[]
	END
	grd --name here <stream | grd --name there | gstats --csv >csv
	grep -qx '1,here,references,7' csv
	grep -qx '1,there,references,7' csv
}

@test "accesses pass unchanged and are counted as their requests" {
	ordered conv | gschedule --sm 4 >accesses
	gcoalesce <accesses >requests
	diff <(rows <accesses) <(grd <accesses | rows)
	for how in "--profile" "--profile --granularity sector" "--csdd --line 64" "--profile --per global --op loads"; do
		grd $how <accesses >from_accesses
		grd $how <requests >from_requests
		cmp from_accesses from_requests
		[ "$(wc -l <from_requests)" -gt 2 ]
	done
}

@test "references are conserved: profile, classes, counts and the stages before agree" {
	ordered gemm | gcoalesce >stream
	requests=$(gtrace-cat stream | grep -vc '^#')
	for bound in 1 3 100 65536; do
		[ "$(grd --profile --bound $bound <stream | column count | awk '{ sum += $1 } END { print sum + 0 }')" -eq "$requests" ]
		[ "$(grd --profile --by op --bound $bound <stream | column count | awk '{ sum += $1 } END { print sum + 0 }')" -eq "$requests" ]
	done
	[ "$(grd --lines 64 --op loads <stream | column references)" -lt "$requests" ]
	[ "$(($(grd --lines 64 --op loads <stream | column references) + $(grd --lines 64 --op stores,atomics <stream | column references)))" -eq "$requests" ]
	sectors=$(gstats --csv <stream | sed -n 's/^1,coalesce,sectors,//p')
	[ "$(grd --lines 1 --granularity sector <stream | column references)" -eq "$sectors" ]
}

@test "bins beyond the bound double" {
	# A loop over 40 lines, twice: 40 infinite, 40 of distance 39.
	requests $(seq 0 39) $(seq 0 39) >stream
	diff <(grd --profile --bound 5 <stream) <(printf 'kernel\tdistance\tto\tcount\n1\t20\t39\t40\n1\tinf\tinf\t40\n')
	diff <(grd --csdd --bound 5 <stream) <(printf 'kernel\tdistance\tbelow\tfraction\n1\t40\t40\t0.500000\n')
	grd --bound 5 <stream | gtrace-cat | grep -q "distance=\[\]${tab}far=\[0,0,40\]"
	[ "$(grd --lines 39,40 --bound 5 <stream | column hits | paste -sd ' ')" = "0 40" ]
}

@test "stacks: one, one for each SM, one for each set" {
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tstep\tsm\tkernel\n'
		while read -r sm line; do
			printf '0\t0\t%d\t0\tload.global\t%d\t15\t0\t1\t%d\t%d\t1\n' $((an)) $((line * 128)) $((an++)) "$sm"
		done <<-END
			0 0
			1 0
			0 1
			1 2
			0 2
			1 0
			0 0
		END
	} | gtrace-cat --from >stream
	[ "$(distances --per global <stream)" = "inf 0 inf inf 0 2 0" ]
	[ "$(distances --per sm <stream)" = "inf inf inf inf inf 1 2" ]
	[ "$(distances <stream)" = "$(distances --per sm <stream)" ]
	[ "$(distances --per set:2 <stream)" = "inf 0 inf inf 0 1 0" ]
	[ "$(distances --per sm,set:2 <stream)" = "inf inf inf inf inf 1 1" ]
	[ "$(distances --per sm,set:1 <stream)" = "$(distances --per sm <stream)" ]
	[ "$(grd --distances <stream | column sm | paste -sd ' ')" = "0 1 0 1 0 1 0" ]
}

# The property by which one profile describes many caches.
@test "hits by MRU position are those of gcache with LRU, at every number of ways" {
	few 1 conv gemm
	for trace in "${FEW[@]}"; do
		ordered $trace | gschedule --sm 4 --max-blocks 2 |
			gtrace-cat | grep -v '^#end\|^#gtrace\|store' | gtrace-cat --from >loads
		few 3 "4 mod" "8 xor" "16 prime" "5 mod" "1 mod"
		for how in "${FEW[@]}"; do
			read -r sets index <<<"$how"
			function="--index $index"
			[ "$sets" -gt 1 ] || function=
			grd --per sm,set:"$sets" $function --mru 8 <loads | column count >positions
			few 3 1 2 3 5 8
			for ways in "${FEW[@]}"; do
				expected=$(head -n $ways positions | awk '{ sum += $1 } END { print sum + 0 }')
				found=$(gcache --l1 --size $((sets * ways * 128)) --ways $ways --line 128 --sector line --index "$index" \
					--replace lru <loads | gstats --csv | sed -n 's/^1,l1,read_hits,//p')
				[ "$found" -eq "$expected" ] || { echo "$trace $how, $ways ways: $found, expected $expected"; return 1; }
			done
		done
		[ "$expected" -gt 0 ]
	done
}

@test "a shared cache after another: one stack for each set, with the requests that arrive" {
	ordered gemm | gschedule --sm 4 |
		gtrace-cat | grep -v '^#end\|^#gtrace\|store' | gtrace-cat --from |
		gcache --l1 --size 2K --ways 4 --line 128 --sector line >misses
	for ways in 1 4 16; do
		expected=$(grd --per set:32 --mru $ways <misses | column count | head -n $ways | awk '{ sum += $1 } END { print sum + 0 }')
		found=$(gcache --l2 --size $((32 * ways * 128)) --ways $ways --line 128 --sector line --index mod --replace lru <misses |
			gstats --csv | sed -n 's/^1,l2,read_hits,//p')
		[ "$found" -eq "$expected" ] || { echo "$ways ways: $found, expected $expected"; return 1; }
	done
}

@test "the end of a kernel empties the stacks, except with --flush never" {
	requests 0 1 0 / 0 1 2 >stream
	[ "$(distances <stream)" = "inf inf 1 inf inf inf" ]
	[ "$(distances --flush never <stream)" = "inf inf 1 0 1 inf" ]
	[ "$(grd --lines 2 --flush never <stream | column hits | paste -sd ' ')" = "1 2" ]
	# Each warp or block of a launch is as if it ran alone: those of the next launch are others.
	for per in warp block; do
		[ "$(distances --flush never --per $per <stream)" = "inf inf 1 inf inf inf" ]
		[ "$(grd --lines 2 --flush never --per $per <stream | column hits | paste -sd ' ')" = "1 0" ]
		diff <(grd --profile --flush never --per $per -j 2 stream) <(grd --profile --per $per stream)
	done
	diff <(grd --lines 2 --total <stream | cut -f 1-6) <(printf 'kernel\tlines\treferences\thits\tcompulsory\tcapacity\ntotal\t2\t6\t1\t5\t0\n')
}

@test "a kernel without references has an empty profile" {
	requests / 1 >stream
	[ "$(grd --profile <stream | grep -c '^1')" -eq 0 ]
	[ "$(grd --csdd <stream | grep -c '^1')" -eq 0 ]
	diff <(grd --lines 8 --op stores <stream | grep '^2') <(printf '2\t8\t0\t0\t0\t0\t-\t-\t-\n')
	[ "$(grd --mru 1 --op stores --total <stream | column count | paste -sd ' ')" = "0 0" ]
}

@test "split by op and by instruction" {
	gtrace-order "$ROOT/examples/traces/conv.traceg.xz" >stream
	[ "$(grd --lines 64 --by op <stream | column op | paste -sd ' ')" = "load.global store.global" ]
	grd --lines 64 --by pc <stream >by_pc
	[ "$(column pc <by_pc | wc -l)" -gt 1 ]
	column pc <by_pc | while read -r pc; do echo $((pc)); done | sort -c -n -u
	[ "$(column hits <by_pc | awk '{ sum += $1 } END { print sum + 0 }')" -eq "$(grd --lines 64 <stream | column hits)" ]
	grd --by op <stream | gstats --csv | grep -qE '^1,reuse,load.global.references,[1-9]'
}

# loads TRACE [ARGUMENT...]: the scheduled loads of an example, by line.
loads() {
	local trace=$1
	shift
	gtrace-order "$ROOT/examples/traces/$trace" | gschedule --sm 4 "$@" | gtrace-cat |
		grep -v '^#end\|^#gtrace\|store' | gtrace-cat --from
}

# curve_misses SETS WAYS <TABLE: the misses of a cache in a table of --curve or --curve-sets.
curve_misses() { awk -v sets="$1" -v ways="$2" '$2 == sets && $3 <= ways { misses = $6 } END { print misses }'; }

@test "curves: every size and number of ways in one pass, with exactly the hits of gcache" {
	few 1 conv.rdgc.xz gemm.rdgc.xz conv.traceg.xz
	for trace in "${FEW[@]}"; do
		loads $trace --max-blocks 2 >stream
		grd --curve-sets 1,4,7,16,64 <stream >curves
		grd --curve-sets 4,16,64 --index xor <stream >hashed
		grd --curve <stream >one
		diff one <(awk 'NR == 1 || $2 == 1' curves)
		checked=0
		few 6 "1 1" "1 2" "1 7" "1 16" "1 33" "1 64" "1 250" "4 1" "4 5" "4 16" "7 3" "16 1" "16 2" "16 8" "64 1" "64 2" "64 4"
		for how in "${FEW[@]}"; do
			read -r sets ways <<<"$how"
			for index in mod xor; do
				table=curves
				if [ $index = xor ]; then
					[ "$sets" -ge 4 ] && [ "$sets" -ne 7 ] || continue
					table=hashed
				fi
				gcache --l1 --size $((sets * ways * 128)) --ways "$ways" --line 128 --sector line --index $index --replace lru <stream |
					gstats --csv >csv
				found=$(($(sed -n 's/^1,l1,reads,//p' csv) - $(sed -n 's/^1,l1,read_hits,//p' csv)))
				[ "$found" -eq "$(curve_misses "$sets" "$ways" <$table)" ] || { echo "$trace $how $index: $found"; return 1; }
				checked=$((checked + 1))
			done
		done
		[ $checked -eq $((${#WHOLE} > 0 ? 26 : 9)) ]
	done
}

@test "curves beyond the bound, by class, and of a kernel without references" {
	requests $(seq 0 39) $(seq 0 39) 39 / >stream
	diff <(grd --curve --bound 5 <stream) - <<-END
		kernel${tab}sets${tab}ways${tab}bytes${tab}references${tab}misses${tab}miss_ratio${tab}error
		1${tab}1${tab}1${tab}128${tab}81${tab}80${tab}0.987654${tab}0.000000
		1${tab}1${tab}40${tab}5120${tab}81${tab}40${tab}0.493827${tab}0.000000
	END
	[ "$(grd --curve --by op <stream | column op | sort -u)" = load.global ]
	for table in --curve "--curve-sets 1,2"; do
		[ "$(grd $table --op stores <stream | wc -l)" -eq 1 ]
	done
	diff <(grd --sdcm 1K,2,128 --op stores <stream | cut -f 5-) <(printf 'references\thits\thit_ratio\n0\t0.000\t-\n0\t0.000\t-\n')
	[ "$(grd --sample 0.5 --csdd <stream | grep -c '^2')" -eq 0 ]
	# As counts: zeros, and 0/0 has no value.
	grd --op stores --sdcm 1K,2,128 --count <stream | grd --op stores --lines 8 --count | grd --op stores --per set:4 --classes 2 --count |
		grd --op stores --sharing warp:8 --count | grd --op stores --curve-sets 1,4 --count | grd --op stores --by pc >empty
	gtrace-cat --check empty
	gstats --json empty >json
	[ "$(grep -ci 'nan\|inf[^i]' json)" -eq 0 ]
	[ "$(gstats --csv empty | grep -c '^[12],.*,references,0$')" -eq 14 ]
}

@test "the model: exact, approximated, and for a fully associative cache" {
	loads gemm.rdgc.xz >stream
	grd --sdcm 4K,32,128 <stream >model
	[ "$(column hits <model)" = "$(grd --lines 32 <stream | column hits).000" ]
	# [004] (2) with python's fractions, from the profile.
	grd --profile --line 64 --bound 100000 <stream >profile
	for how in "16K 4" "4K 1" "64K 16"; do
		read -r size ways <<<"$how"
		expected=$(python3 - "$size" "$ways" <<-'END'
			import sys
			from fractions import Fraction
			from math import comb
			lines, ways, hits = int(sys.argv[1][:-1]) * 1024 // 64, int(sys.argv[2]), 0
			p = Fraction(ways, lines)
			for row in open("profile").read().splitlines()[1:]:
			    kernel, distance, to, count = row.split("\t")
			    if distance != "inf":
			        d = int(distance)
			        hits += int(count) * sum(comb(d, a) * p**a * (1 - p)**(d - a) for a in range(min(ways, d + 1)))
			print("%.3f" % hits)
		END
		)
		[ "$(grd --sdcm "$size,$ways,64" <stream | column hits)" = "$expected" ] || { echo "$how: $expected"; return 1; }
	done
	# The error of the normal approximation is at most a tenth for distances near the number of lines.
	paste <(grd --sdcm 16K,4,128 <stream | column hit_ratio) <(grd --sdcm-normal 16K,4,128 <stream | column hit_ratio) |
		awk '{ exit !($1 != $2 && ($1 - $2) ^ 2 < 0.01) }'
}

@test "classes: compulsory, capacity and conflict misses, reference by reference" {
	# Lines 0 and 4 share one of four sets; one way. A fully associative cache of four lines holds both.
	requests 0 4 0 4 1 2 3 0 5 >stream
	diff <(grd --per set:4 --classes 1,2 <stream | cut -f 1-9) - <<-END
		kernel${tab}ways${tab}lines${tab}references${tab}hits${tab}compulsory${tab}capacity${tab}conflict${tab}spared
		1${tab}1${tab}4${tab}9${tab}0${tab}6${tab}1${tab}2${tab}0
		1${tab}2${tab}8${tab}9${tab}3${tab}6${tab}0${tab}0${tab}0
	END
	[ "$(grd --per set:4 --classes 1,2 <stream | cut -f 10- | paste -sd ' ')" = "latency_miss${tab}merged${tab}reservation_fail 0${tab}0${tab}0 0${tab}0${tab}0" ]
	# The opposite case: line 1 stays in its set while 0, 2 and 4 evict it from the fully associative cache.
	requests 1 0 2 4 1 >stream
	[ "$(grd --per set:2 --classes 1 <stream | column spared)" -eq 1 ]
	loads conv.rdgc.xz >stream
	for how in "64 mod" "16 xor"; do
		read -r sets index <<<"$how"
		grd --per sm,set:$sets --index $index --classes 1,2,4 <stream >classes
		diff <(awk 'NR > 1 { print $5, $6 }' classes) <(grd --per sm,set:$sets --index $index --lines 1,2,4 <stream | awk 'NR > 1 { print $4, $5 }')
		awk 'NR > 1 && $5 + $6 + $7 + $8 != $4 { exit 1 }' classes
		# The misses other than conflicts and the spared hits together are the misses of the fully associative cache.
		diff <(awk 'NR > 1 { print $5 + $8 - $9 }' classes) <(grd --lines $sets,$((2 * sets)),$((4 * sets)) <stream | awk 'NR > 1 { print $4 }')
	done
}

# without_told: a table of grd without the columns that tell an instruction.
without_told() { awk -F '\t' -v OFS='\t' 'NR == 1 { told = $3 == "op" } told { $3 = $4 = $5 = ""; sub("\t\t\t", "") } { print }'; }

# summed COLUMN: by size, the counts of a table from that column on, added up over classes.
summed() {
	awk -v first="$1" 'NR > 1 { for (i = first; i <= NF; i++) sum[$3, i] += $i; if (!seen[$3]++) size[++n] = $3; fields = NF }
		END { for (k = 1; k <= n; k++) { line = size[k]; for (i = first; i <= fields; i++) line = line " " sum[size[k], i]; print line } }'
}

# table_3: the requests of [000] table 3, in the order of a timed level, with their status.
table_3() {
	awk 'BEGIN {
		OFS = "\t"
		print "#kernel", "id=1", "name=table3", "grid=1,1,1", "block=96,1,1"
		print "#block", "warp", "an", "pc", "op", "address", "sectors", "full", "lanes", "step", "sm", "kernel"
		n = split("00 01 02 03 04 05 06 07 20 23", access, " ")
		for (i = 1; i <= n; i++) {
			line = substr(access[i], 2)
			print 0, (i > 8 ? 2 : int(line / 4)), 0, 0, "load.global", line * 128, 15, 0, 32, (i > 8), 0, 1
		}
	}' | gtrace-cat --from | gcache --l1 --size 4K --ways 8 --banks 2 --ports 2 --mshr 1x2 --latency fixed:2 --emit all
}

@test "[000] table 3: in a timed order only hits and misses have distances; fails are counted separately" {
	table_3 >stream
	[ "$(grd --per set:2 --distances <stream | awk 'NR > 1 { print substr($10, 1, 1), $9 }' | sort | paste -sd ' ')" = "h 2 h 3 m inf m inf m inf m inf m inf m inf m inf m inf" ]
	[ "$(distances --per set:2 <stream)" = "$(gtrace-cat stream | awk -F '\t' '/^#/ || $12 != "reservation_fail"' | gtrace-cat --from | distances --per set:2)" ]
	diff <(grd --per set:2 --lines 8 --by status <stream | cut -f 1-5) <(printf 'kernel\tstatus\tlines\treferences\thits\n1\thit\t8\t2\t2\n1\tmiss\t8\t8\t0\n')
	diff <(grd --per set:2 --classes 8 <stream | cut -f 4-) <(printf 'references\thits\tcompulsory\tcapacity\tconflict\tspared\tlatency_miss\tmerged\treservation_fail\n10\t2\t8\t0\t0\t0\t0\t0\t6\n')
	[ "$(grd --per set:2 --classes 8 --by status <stream | awk 'NR > 1 { print $2, $5, $13 }' | paste -sd ' ')" = "hit 2 0 miss 8 0 reservation_fail 0 6" ]
	grd --per set:2 <stream | gstats --csv | grep -qx '1,reuse,reservation_fails,6'
}

@test "classes in a timed order: latency misses and merges are separate, by the level's status" {
	ordered gemm | gcoalesce | gschedule --sm 8 --max-blocks 8 >scheduled
	for how in "--mshr 1x2 --merges 8 --latency fixed:20" "--mshr 1x8 --per-warp-mshr 2 --on-full requeue --latency half-normal:20,10,1"; do
		gcache --l1 --size 8K --ways 4 --line 128 --sector 128 --index mod $how --emit all <scheduled >timed
		grd --per sm,set:16 --classes 4 <timed >classes
		gtrace-cat timed | awk -F '\t' '!/^#/ { n[$12]++ } END { print n["latency_miss"] + 0, n["merged"] + 0, n["reservation_fail"] + 0 }' >said
		read -r latency merged failed <said
		[ "$((latency + merged))" -gt 0 ]
		[ "$failed" -gt 0 ]
		[ "$(awk 'NR > 1 { print $10, $11, $12 }' classes)" = "$latency $merged $failed" ] || { cat classes said; return 1; }
		awk 'NR > 1 && $5 + $6 + $7 + $8 + $10 + $11 != $4 { exit 1 }' classes
		[ "$(summed 5 <<<"$(grd --per sm,set:16 --classes 4 --by pc <timed | without_told)")" = "$(cut -f 2,4- classes | sed 1d | tr '\t' ' ')" ]
		grd --per sm,set:16 --classes 4 --by status --count <timed | gtrace-cat --check
	done
}

@test "sharing: what private and shared caches gain and lose" {
	loads conv.rdgc.xz >stream
	for who in warp block; do
		grd --sharing $who:8,64,256 <stream >sharing
		diff <(awk 'NR > 1 { print $4, $5 }' sharing) <(paste -d ' ' <(grd --per $who --lines 8,64,256 <stream | column hits) <(grd --lines 8,64,256 <stream | column hits))
		awk 'NR > 1 && $5 != $4 + $6 - $7 { exit 1 }' sharing
		[ "$(awk 'NR > 1 { gained += $6 } END { print gained }' sharing)" -gt 0 ]
	done
	grd --per global --sharing sm:64 <stream >sharing
	[ "$(column alone <sharing)" -eq "$(grd --per sm --lines 64 <stream | column hits)" ]
	# Two warps that evict each other's only line.
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=64,1,1\n#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		for an in 0 1 2; do
			for warp in 0 1; do
				printf '0\t%d\t%d\t0\tload.global\t%d\t15\t0\t1\t1\n' $warp $an $((warp * 128))
			done
		done
	} | gtrace-cat --from >stream
	diff <(grd --sharing warp:1,2 <stream | cut -f 2-) <(printf 'lines\treferences\talone\ttogether\tgained\tlost\n1\t6\t4\t0\t0\t4\n2\t6\t4\t4\t0\t0\n')
	[ "$(distances --per warp <stream)" = "inf inf 0 0 0 0" ]
	[ "$(distances --per block <stream)" = "inf inf 1 1 1 1" ]
}

@test "arrays: those that the stream names, by name" {
	{
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n'
		printf '#count\tstage=allocations\tkernel=1\taddresses=[4096,1024,2048]\tbytes=[256,1024,128]\tnames=C,A,\n'
		printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
		an=0
		for address in 1024 1920 2048 2176 4096 4224 4352 896 1024 2048; do
			printf '0\t0\t%d\t0\tload.global\t%d\t15\t0\t1\t1\n' $((an++)) $address
		done
		printf '#kernel\tid=2\tname=k\tgrid=1,1,1\tblock=32,1,1\n'
		printf '#count\tstage=allocations\tkernel=2\taddresses=[1024]\tbytes=[128]\tnames=C\n'
		printf '0\t0\t0\t0\tload.global\t1024\t15\t0\t1\t2\n'
	} | gtrace-cat --from >stream
	diff <(grd --lines 10 --by array <stream | cut -f 1,2,4,5) - <<-END
		kernel${tab}array${tab}references${tab}hits
		1${tab}-${tab}3${tab}0
		1${tab}C${tab}2${tab}0
		1${tab}A${tab}3${tab}1
		1${tab}0x800${tab}2${tab}1
		2${tab}C${tab}1${tab}0
	END
	diff <(grd --lines 10 --by array --total <stream | column references | paste -sd ' ') <(echo "3 3 3 2")
	grd --by array <stream | gtrace-cat --no-rows | grep -q "A.references=3"
	grd --by array <stream | gtrace-cat --no-rows | grep -q "stage=allocations"
	grd --by array <stream | gstats >/dev/null
	for wrong in 'addresses=[1024]' 'addresses=[1024]\tbytes=[1,2]' 'addresses=[1024,1025]\tbytes=[2,1]\tnames=A,B' 'addresses=[1]\tbytes=[18446744073709551615]'; do
		printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#count\tstage=allocations\tkernel=1\t%b\n' "$wrong" | gtrace-cat --from >wrong
		expect_failure 1 "allocations: expected" grd --profile <wrong
	done
}

# counters STAGE COUNTER...: their values, of kernel 1, in one line.
counters() {
	local stage=$1
	shift
	tr -d '"' <csv | awk -F, -v stage="$stage" -v names="$*" '
		$1 == 1 && $2 == stage { sub(/^[^,]*,[^,]*,/, ""); name = $0; sub(/,.*/, "", name); sub(/^[^,]*,/, ""); value[name] = $0 }
		END { n = split(names, name_of, " "); for (i = 1; i <= n; i++) if (name_of[i] in value) line = line " " value[name_of[i]]; print substr(line, 2) }'
}

@test "tables as counts: --count adds the table's numbers, and the invariants hold" {
	loads conv.rdgc.xz >stream
	few 4 "--lines 16,64,256" "--lines 64 --by op" "--per sm,set:64 --classes 1,2,4" "--sharing block:64,256" "--per global --sharing sm:64" \
		"--sdcm 16K,4,128" "--sdcm-normal 16K,4,128" "--curve-sets 1,16" "--profile --by pc" "--sample 0.1 --lines 64 --by op" "--sample 0.1 --sdcm 16K,4,128"
	for how in "${FEW[@]}"; do
		grd $how --count <stream >counted
		diff <(rows <stream) <(rows <counted)
		gtrace-cat --check counted >checked
		[ "$(awk '{ print $1 }' checked)" -gt "$(gtrace-cat --check stream | awk '{ print $1 }')" ] || { echo "$how"; return 1; }
	done
	grd --lines 16,256 --count <stream | grd --per sm,set:64 --classes 2 --count | grd --sharing warp:256 --name shared --count |
		grd --sdcm 16K,4,128 --count | grd --curve-sets 1,16 --count | gstats --csv >csv
	[ "$(counters lines:256 lines references hits compulsory capacity)" = "$(grd --lines 256 <stream | awk 'NR > 1 { print $2, $3, $4, $5, $6 }')" ]
	[ "$(counters lines:16 hits)" = "$(grd --lines 16 <stream | column hits)" ]
	[ "$(counters classes:2 ways lines references hits compulsory capacity conflict spared)" = "$(grd --per sm,set:64 --classes 2 <stream | awk 'NR > 1 { print $2, $3, $4, $5, $6, $7, $8, $9 }')" ]
	[ "$(counters shared:256 lines references alone together gained lost private per)" = "$(grd --sharing warp:256 <stream | awk 'NR > 1 { print $2, $3, $4, $5, $6, $7 }') warp sm" ]
	[ "$(counters sdcm size ways line references)" = "$(grd --sdcm 16K,4,128 <stream | awk 'NR > 1 { print $2, $3, $4, $5 }')" ]
	grd --sdcm 16K,4,128 <stream | awk -v hundredths="$(counters sdcm expected_hits)" 'NR > 1 { exit !((hundredths - 100 * $6) ^ 2 <= 0.3) }'
	[ "$(counters reuse:16 infinite per)" = "$(counters reuse:1 infinite) sm,set:16" ]
}

# grd(1): --curve-sets n is the curve of --per set:n; only --mru and --lines raise the bound.
@test "one number of sets in --curve-sets is as several: index, bound and the stage's name" {
	requests 0 8 16 24 32 40 0 8 16 24 32 40 >stream
	diff <(grd --curve-sets 8 --bound 1 <stream) <(grd --per set:8 --curve --bound 1 <stream)
	[ "$(grd --curve-sets 8 --bound 1 <stream | column ways | paste -sd ' ')" = "1 8" ]
	[ "$(grd --curve-sets 8 --index smod:3 <stream | column misses | paste -sd ' ')" = 6 ]
	grd --curve-sets 8 --count <stream | gtrace-cat --no-rows >counts
	grep -q 'stage=reuse:8' counts
	run grd --sharing warp:2 --index xor <stream
	[ "$status" -eq 2 ]
	[[ $output == *"--index: expected more than one set"* ]]
}

@test "--check reports counters that do not add up" {
	count() { printf '#kernel\tid=1\tname=k\tgrid=1,1,1\tblock=32,1,1\n#count\tstage=s\tkernel=1\tgranularity=line:128\t%b\n' "$1" | gtrace-cat --from; }
	for wrong in 'references=3\tinfinite=1\tdistance=[1]\tfar=[]' 'references=3\thits=1\tcompulsory=1\tcapacity=0' 'references=1\ta.references=1\tb.references=1' \
		'references=1\texpected_hits=101' 'alone=1\ttogether=2\tgained=2\tlost=0' 'references=9\thits=1\tcompulsory=1\tcapacity=3\tconflict=3\tlatency_miss=0\tmerged=0' \
		'references=2\ta.references=2\ta.hits=1\ta.compulsory=0\ta.capacity=0' 'hits=1\tspared=2' 'infinite=2\treferences=1'; do
		count "$wrong" >stream
		expect_failure 1 "kernel 1: s: " gtrace-cat --check stream
	done
	count 'references=2\thits=1\tcompulsory=1\tcapacity=0\ta.b.references=2\ta.b.hits=1' >stream
	[ "$(gtrace-cat --check stream)" = "3 invariants hold" ]
}

@test "classes and sharing of each instruction, op and array agree with the profiles, and add up" {
	ordered conv | gschedule --sm 4 >stream
	few 2 op pc array
	for by in "${FEW[@]}"; do
		grd --per sm,set:16 --classes 1,4,16 --by $by <stream | without_told >classes
		diff <(summed 5 <classes) <(grd --per sm,set:16 --classes 1,4,16 <stream | cut -f 2,4- | sed 1d | tr '\t' ' ')
		diff <(cut -f 2,3,5-7 classes) <(grd --per sm,set:16 --lines 1,4,16 --by $by <stream | without_told | cut -f 2-6 | sed "1s/lines/ways/")
		grd --sharing block:16,64 --by $by <stream | without_told >sharing
		diff <(summed 4 <sharing) <(grd --sharing block:16,64 <stream | cut -f 2- | sed 1d | tr '\t' ' ')
		diff <(cut -f 2-4,6 sharing) <(grd --lines 16,64 --by $by <stream | without_told | cut -f 2-5 | sed "1s/hits/together/")
	done
	[ "$(wc -l <classes)" -gt 1 ]
}

@test "by kernel: all launches of a name are one class" {
	{
		for id in 1 2 3; do
			printf '#kernel\tid=%d\tname=%s\tgrid=1,1,1\tblock=32,1,1\n' $id "$([ $id = 2 ] && echo other || echo 'same one')"
			[ $id != 1 ] || printf '#block\twarp\tan\tpc\top\taddress\tsectors\tfull\tlanes\tkernel\n'
			for line in $(seq $id); do printf '0\t0\t%d\t0\tload.global\t%d\t15\t0\t1\t%d\n' $line $((line * 128)) $id; done
		done
	} | gtrace-cat --from >stream
	diff <(grd --lines 9 --by kernel --total --flush never <stream | cut -f 1-5) <(printf 'kernel\tkernel\tlines\treferences\thits\ntotal\tsame one\t9\t4\t2\ntotal\tother\t9\t2\t1\n')
	diff <(grd --lines 9 --by kernel <stream | cut -f 1,2,4) <(printf 'kernel\tkernel\treferences\n1\tsame one\t1\n2\tother\t2\n3\tsame one\t3\n')
}

# mean_difference EXACT SAMPLED: the mean difference of two curves' miss ratios, over all sizes of the exact one, and
# the stated error.
mean_difference() {
	awk 'FNR == 1 { file++; next } file == 1 { ways[++n] = $3; ratio[n] = $7; next } { w[++m] = $3; r[m] = $7; error = $8 }
		END { for (size = 1; size <= ways[n]; size++) { while (i < n && ways[i + 1] <= size) i++; while (j < m && w[j + 1] <= size) j++
			sum += (ratio[i] > r[j] ? ratio[i] - r[j] : r[j] - ratio[i]) } print sum / ways[n], error }' "$1" "$2"
}

@test "samples: exact and sampled curves agree within the stated error, on all examples" {
	few 1 conv.rdgc.xz gemm.rdgc.xz conv.traceg.xz
	for trace in "${FEW[@]}"; do
		for per in global sm; do
			gtrace-order "$ROOT/examples/traces/$trace" | gschedule --sm 4 >stream
			grd --per $per --curve <stream >exact
			few 3 "--sample 0.5" "--sample 0.2" "--sample 0.1" "--sample-lines 64" "--sample-lines 200"
			for how in "${FEW[@]}"; do
				grd --per $per --curve $how <stream >sampled
				read -r difference error < <(mean_difference exact sampled)
				awk "BEGIN { exit !($difference <= $error || $error == 0 && $difference == 0) }" || { echo "$trace $per $how: $difference > $error"; return 1; }
			done
			cmp exact <(grd --per $per --curve --sample 1 <stream)
			cmp exact <(grd --per $per --curve --sample-lines 1000000 <stream)
		done
	done
}

@test "samples: references are exact, and the distances add up to them" {
	ordered gemm | gcoalesce >stream
	for how in "--sample 0.1" "--sample-lines 64"; do
		few 2 "" "--by op" "--by pc"
		for by in "${FEW[@]}"; do
			diff <(grd --lines 64 $by $how <stream | column references) <(grd --lines 64 $by <stream | column references)
			[ "$(grd --profile $by $how <stream | column count | awk '{ sum += $1 } END { print sum }')" -eq "$(gtrace-cat stream | grep -vc '^#')" ]
		done
		grd $how <stream | gstats --csv >csv
		grep -q '^1,reuse,sample_every,[1-9][0-9]*$' csv
		grep -q '^1,reuse,sample_error,[1-9][0-9]*$' csv
	done
}

@test "a stream whose requests are taken, or that names nothing, is named" {
	ordered conv >ordered
	gdram ordered >taken
	for options in "" --curve --distances "--profile --count"; do
		# shellcheck disable=SC2086
		expect_failure 1 "gdram has taken all requests: put it after grd" bash -c "grd $options taken | cat >/dev/null; exit \${PIPESTATUS[0]}"
	done
	expect_warning() { grd "${@:2}" ordered 2>said >table; [ "$(cat said)" = "grd: warning: $1" ]; }
	expect_warning "--by line: the stream names no source lines: compile with nvcc -lineinfo" --by line --profile
	expect_warning "--by array: the stream names no arrays: gtrace-record and gtrace-ptx do" --by array --profile
	gtrace-ptx --launch 'vectoradd<<<2,64>>>(A=f32[128], f32[128], f32[128], 128)' "$ROOT/examples/kernels/ptx/vectoradd.ptx" |
		grd --by array --profile 2>said >table
	[ ! -s said ]
}

@test "wrong options are reported before anything is read" {
	few 20 "--mru 0" "--mru 1,2" "--lines 1,,2" "--lines x" "--lines 5000000000" "--per set:0" "--per sm,global" "--per thread" \
		"--op reads" "--op loads," "--by row" "--count" "--count --distances" "--lines 1 --count --total" "--line 96" "--line 16" "--granularity sector:64" "--granularity byte" \
		"--bound 0" "--index xor" "--per set:4 --index none" "--flush always" "--mru 4 --profile" "--total" "--total --distances" \
		"--sample 0" "--sample 1.1" "--sample -1" "--sample nan" "--sample x" "--sample 1e-9" "--sample-lines 0" "--sample-lines 63" \
		"--sample 0.1 --per set:4" "--sample 0.1 --per set:4 --classes 1" "--sample 0.1 --curve-sets 1" "--sample-lines 99 --sharing warp:1" \
		"--curve-sets 0" "--curve-sets 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17" "--curve-sets 2 --per set:2" "--curve-sets 33554432" \
		"--sdcm 1K" "--sdcm 1K,3,32" "--sdcm 1K,4,96" "--sdcm 1K,4,32 --per set:2" "--sdcm-normal 0,1,32" "--classes 1" "--classes 0 --per set:2" \
		"--lines 1 --count --name $(printf '%077d' 0)" "--sharing global:1" "--sharing warp" "--sharing warp:0" "--sharing warp:1 --per set:2" "--curve --csdd"
	for options in "${FEW[@]}"; do
		expect_failure 2 "expected" grd $options </dev/null || expect_failure 2 "power of two" grd $options </dev/null || { echo "$options"; return 1; }
	done
	expect_failure 2 "--name: expected" grd --name "" </dev/null
	expect_failure 2 "--name: expected" grd --name "$(printf '%080d' 0)" </dev/null
}

@test "rows that cannot be measured are refused" {
	requests 1 2 >stream
	expect_failure 1 "record 3: reuse by address is of accesses, but these rows are requests" grd --granularity address --profile <stream
	expect_failure 1 "run gschedule first" grd --per sm --profile <stream
}

@test "a truncated stream gives no table" {
	requests 1 2 3 1 >stream
	head -c -9 stream >broken
	expect_failure 1 "" grd --profile <broken
	expect_failure 1 "" grd --lines 2 --total <broken
	status=0
	grd <broken >out 2>err || status=$?
	[ "$status" -eq 1 ]
	expect_failure 1 "" gstats <out
}

@test "a full disk is an error" {
	[ -w /dev/full ] || skip "no /dev/full"
	requests 1 2 3 1 >stream
	for how in --profile --distances ""; do
		status=0
		grd $how <stream >/dev/full 2>err || status=$?
		[ "$status" -eq 1 ]
		[ "$(wc -l <err)" -eq 1 ]
	done
}

@test "--by pc tells the operation, source line and kernel, in tables and counts" {
	{
		printf '#kernel\tid=1\tname=first\tgrid=1,1,1\tblock=32,1,1\torder=none\n#count\tstage=source\tkernel=1\tpcs=[26]\tlines=[38]\tfiles=[0]\tnames=/a/my.cu\n'
		printf '#block\twarp\tan\tpc\top\tsize\tmask\tbase\tstride\tlanes\tkernel\n'
		printf '0\t0\t%s\t%s\t%s\t4\t0xffffffff\t%s\t4\t-\t1\n' 0 26 load.global 0 1 27 store.global 128 2 27 load.global 256
		printf '#kernel\tid=2\tname=second\tgrid=1,1,1\tblock=32,1,1\torder=none\n0\t0\t0\t26\tload.global\t4\t0xffffffff\t0\t4\t-\t2\n'
	} | gtrace-cat --from >told
	grd --by pc --lines 4 told | cut -f 1-5 >table
	printf 'kernel\tpc\top\tline\tname\n1\t0x1a\tload.global\tmy.cu:38\tfirst\n1\t0x1b\tseveral\t-\tfirst\n2\t0x1a\tload.global\t-\tsecond\n' | diff table -
	grd --by pc --lines 4 --total told | cut -f 1-5 >table
	printf 'kernel\tpc\top\tline\tname\ntotal\t0x1a\tload.global\tseveral\tseveral\ntotal\t0x1b\tseveral\t-\tfirst\n' | diff table -
	for counted in "" "--classes 4 --per set:4 --count"; do
		# shellcheck disable=SC2086
		grd --by pc $counted told | gtrace-cat --no-rows | grep '^#count.*0x1a.references' | tr '\t' '\n' >counts
		[ "$(grep -c '^0x1a.op=load.global$' counts)" -eq 2 ]
		[ "$(grep -c '^0x1a.source=my.cu:38$' counts)" -eq 1 ]
		grep -qx '0x1b.op=several' counts
	done
}

@test "the manual's examples run" { run_man_examples grd.1; }
