#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# gstats --reference and --errors.

load helpers
bats_require_minimum_version 1.5.0

setup() {
	cd "$BATS_TEST_TMPDIR" || return 1
	printf '%s\n' '#kernel	id=1	name=gemm	grid=4,16,1	block=32,8,1' '#count	stage=l2	kernel=1	reads=1000	read_hits=400' \
		'#kernel	id=2	name=gemm	grid=4,16,1	block=32,8,1' '#count	stage=l2	kernel=2	reads=2000	read_hits=500' \
		'#kernel	id=3	name=gemm	grid=8,16,1	block=32,8,1' '#count	stage=l2	kernel=3	reads=10	read_hits=0' |
		gtrace-cat --from >three.gt
}

@test "long, wide and plain tables in every layout agree with a simple reader" {
	few 2 {100..107}
	for seed in "${FEW[@]}"; do
		python3 "$ROOT/tests/compare_reference.py" "$seed"
	done
}

@test "values that are none are counted in a warning, but for empty ones" {
	printf '%s\n' kernel,metric,value gemm,dram__sectors_read.sum,n/a gemm,lts__t_sectors_op_read.sum, gemm,dram__sectors_write.sum,nan >hw.csv
	gstats --reference hw.csv three.gt 2>said | grep -q 'not in the reference$'
	diff - said <<<'gstats: warning: hw.csv: values that are none (n/a): 2, the first on line 2'
}

@test "a table of other kernels is told in a warning" {
	printf '%s\n' kernel,metric,value gemv,dram__sectors_read.sum,1 >hw.csv
	gstats --reference hw.csv three.gt 2>said | grep -q 'not in the model'
	diff - said <<<'gstats: warning: hw.csv: none of its launches is in the stream, by name, grid, block and position: nothing is compared'
}

@test "kernels are matched by name, shape and ordinal, and what is unmatched is listed on both sides" {
	cat >hw.csv <<-'CSV'
		==PROF== Connected to process 7
		"ID","Kernel Name","Block Size","Grid Size","Metric Name","Metric Unit","Metric Value"
		"0","void gemm<float>(T1 *, int)","(32, 8, 1)","(4, 16, 1)","lts__t_sectors_op_read.sum","Ksector","1.50"
		"1","void gemm<float>(T1 *, int)","(32, 8, 1)","(4, 16, 1)","lts__t_sectors_op_read.sum","sector","1,759"
		"2","init(int)","(32, 8, 1)","(4, 16, 1)","lts__t_sectors_op_read.sum","sector","3"
		"2","init(int)","(32, 8, 1)","(4, 16, 1)","sm__cycles_active.avg","cycle","3"
	CSV
	gstats --reference hw.csv --csv three.gt >rows.csv
	diff - rows.csv <<-'CSV'
		id,kernel,grid,block,metric,unit,hardware,ours,difference,note
		1,"void gemm<float>(T1 *, int)",4x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,1500,1000,-500,
		2,"void gemm<float>(T1 *, int)",4x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,1759,2000,241,
		,init(int),4x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,3,,,not in the model
		3,gemm,8x16x1,32x8x1,,,,,,not in the reference
	CSV
	# A profiler writes namespaces, of which the stream has none.
	sed -i 's/"void gemm</"void one::two::gemm</; s/init(int)/<unnamed>::init(int)/' hw.csv
	sed 's/"void gemm</"void one::two::gemm</; s/init(int)/<unnamed>::init(int)/' rows.csv | diff - <(gstats --reference hw.csv --csv three.gt)
	gstats --reference hw.csv three.gt | tail -2 >others
	diff - others <<-'END'
		not modelled:
		  sm__cycles_active.avg
	END
	gstats --reference hw.csv --json three.gt | grep -qF '"not_modelled": ["sm__cycles_active.avg"]'
}

@test "a table's ordinal chooses the launch, and * is the mean over all" {
	printf '%s\n' kernel,ordinal,metric,value gemm,2,lts__t_sectors_op_read.sum,2000 '*,,lts__t_sectors_op_read.sum,1003.3333' >hw.csv
	gstats --reference hw.csv --csv three.gt >rows.csv
	diff - rows.csv <<-'CSV'
		id,kernel,grid,block,metric,unit,hardware,ours,difference,note
		2,gemm,4x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,2000,2000,0,
		,*,,,lts__t_sectors_op_read.sum,sector,1003.3333,1003.3333,0,
	CSV
}

@test "rates past 100 % are recomputed from counts, or flagged" {
	cat >hw.csv <<-'CSV'
		kernel,metric,unit,value
		gemm,lts__t_sector_op_read_hit_rate.pct,%,140.5
		gemm,lts__t_sectors_op_read_lookup_hit.sum,sector,30
		gemm,lts__t_sectors_op_read.sum,sector,40
		gemm,lts__t_sector_hit_rate.pct,%,101
		gemm,l1tex__t_sector_hit_rate.pct,%,-3
	CSV
	gstats --reference hw.csv --csv three.gt | cut -d, -f5,7,10 >notes
	grep -qx 'lts__t_sector_op_read_hit_rate.pct,75,recomputed' notes
	grep -qx 'lts__t_sector_hit_rate.pct,101,impossible' notes
	grep -qx 'l1tex__t_sector_hit_rate.pct,-3,impossible' notes
}

@test "a model compared with itself has no error" {
	gstats --names ncu --csv three.gt >self.csv
	gstats --reference self.csv --csv three.gt >rows.csv
	[ "$(awk -F, 'NR > 1 && $9 != "0"' rows.csv | wc -l)" -eq 0 ]
	gstats --errors rows.csv | grep -qE '^  lts__t_sectors_op_read.sum +sector +3 +0 +0 +1 +0$'
}

# With the columns of ncu 2025: empty fields of a rule at the end are left out, and a rule has a line without a metric.
@test "the profiler's sections, its rules, and the counters of DRAM on Blackwell" {
	cat >hw.csv <<-'CSV'
		"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Memory Workload Analysis","L2 Hit Rate","%","73.20",
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Memory Workload Analysis","","","","Bound","OPT","Half of the time is lost, or more.","global","34.6"
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Memory Workload Analysis","Mem Busy","%","12",
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Command line profiler metrics","lts__t_sector_hit_rate.pct","%","73.20"
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Command line profiler metrics","dram__sectors_op_read.sum","sector","600"
		"0","7","a","127.0.0.1","gemm","1","7","(32, 8, 1)","(4, 16, 1)","0","12.0","Command line profiler metrics","dram__bytes_op_read.sum","Kbyte","19.2"
	CSV
	printf '%s\n' '#kernel	id=1	name=gemm	grid=4,16,1	block=32,8,1' '#count	stage=l2	kernel=1	reads=1000	read_hits=400	writes=0' \
		'#count	stage=dram	kernel=1	reads=600' | gtrace-cat --from >one.gt
	gstats --reference hw.csv --csv one.gt 2>said | cut -d, -f5- >rows.csv
	diff - rows.csv <<-'CSV'
		metric,unit,hardware,ours,difference,note
		lts__t_sector_hit_rate.pct,%,73.2,40,-33.2,
		dram__sectors_read.sum,sector,600,600,0,
		dram__bytes_read.sum,byte,19200,19200,0,
	CSV
	[ "$(cat said)" = 'gstats: warning: not modelled, and not in the CSV: Mem Busy' ]
	[ -z "$(gstats --quiet --reference hw.csv --csv one.gt 2>&1 >rows.csv)" ]
	sed 's/"73.20"$/"73.21"/' hw.csv >other.csv
	expect_failure 1 "other.csv:5: lts__t_sector_hit_rate.pct a second time" gstats --reference other.csv one.gt
}

# Means by hand, of the launches 1 and 2 of gemm: 1500 reads and (40 + 25) / 2 = 32.5 %.
@test "a summary's averages are compared with the means of ours" {
	cat >hw.csv <<-'CSV'
		"Process ID","Process Name","Host Name","Kernel Name","Block Size","Grid Size","Device","CC","Invocations","Section Name","Metric Name","Metric Unit","Minimum","Maximum","Average"
		"7","a","127.0.0.1","gemm(float *)","(32, 8, 1)","(4, 16, 1)","0","7.0","2","Command line profiler metrics","lts__t_sectors_op_read.sum","sector","900","2,100","1,500.00"
		"7","a","127.0.0.1","gemm(float *)","(32, 8, 1)","(4, 16, 1)","0","7.0","2","Command line profiler metrics","lts__t_sector_op_read_hit_rate.pct","%","20","50","35"
		"7","a","127.0.0.1","gemm(float *)","(32, 8, 1)","(8, 16, 1)","0","7.0","5","Command line profiler metrics","lts__t_sectors_op_read.sum","sector","10","10","10"
		"7","a","127.0.0.1","init()","(32, 8, 1)","(8, 16, 1)","0","7.0","1","Command line profiler metrics","lts__t_sectors_op_read.sum","sector","1","1","1"
	CSV
	gstats --reference hw.csv --csv three.gt | cut -d, -f3- >rows.csv
	diff - rows.csv <<-'CSV'
		grid,block,metric,unit,hardware,ours,difference,note
		4x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,1500,1500,0,
		4x16x1,32x8x1,lts__t_sector_op_read_hit_rate.pct,%,35,32.5,-2.5,
		8x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,10,10,0,other number of launches
		8x16x1,32x8x1,lts__t_sectors_op_read.sum,sector,1,,,not in the model
	CSV
	gstats --reference hw.csv three.gt | grep -qE '^  lts__t_sectors_op_read.sum +sector +2 +0 +0 '
	grep -v init hw.csv | sed 's/"5"/"0"/' >none.csv
	expect_failure 1 "none.csv:4:" gstats --reference none.csv three.gt
	{ cat hw.csv; tail -1 hw.csv; } >twice.csv
	expect_failure 1 "twice.csv:6: lts__t_sectors_op_read.sum a second time" gstats --reference twice.csv three.gt
}

@test "invalid input is an error with its line" {
	local head='"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"'
	printf '%s\n' 'nothing here' >a.csv
	expect_failure 1 "a.csv: no line names the columns" gstats --reference a.csv three.gt
	: >a.csv
	expect_failure 1 "no line names the columns" gstats --reference a.csv three.gt
	{ printf '\xff\xfe'; printf '%s\n' "$head" | iconv -t UTF-16LE; } >a.csv
	expect_failure 1 "a.csv:1: expected text, found UTF-16 text (iconv -f UTF-16 -t UTF-8 converts it)" gstats --reference a.csv three.gt
	expect_failure 1 "a.csv: expected a trace, found UTF-16 text" gtrace-order a.csv
	printf '%s\n' "$head" '"0","k","lts__t_sectors_op_read.sum","sector"' >a.csv
	expect_failure 1 "a.csv:2: expected 5 comma-separated values" gstats --reference a.csv three.gt
	printf '%s\n' "$head" '"0","k","lts__t_sectors_op_read.sum","apple","1"' >a.csv
	expect_failure 1 "a.csv:2: unit 'apple'" gstats --reference a.csv three.gt
	printf '%s\n' "$head" '"0","k","lts__t_sectors_op_read.sum","sector","1,75,9"' >a.csv
	expect_failure 1 "a.csv:2: '1,75,9' for lts__t_sectors_op_read.sum: expected a number" gstats --reference a.csv three.gt
	printf '%s\n' "$head" '"0","k","lts__t_sectors_op_read.sum","sector","1,5"' '"1","k","lts__t_sectors_op_read.sum","sector","1.5"' >a.csv
	expect_failure 1 "a.csv:3: '1.5': expected a comma as the decimal sign" gstats --reference a.csv three.gt
	printf '%s\n' "$head" '"0","k","lts__t_sectors_op_read.sum","sector","1"' '"0","k","lts__t_sectors_op_read.sum","sector","1"' >a.csv
	expect_failure 1 "a.csv:3: lts__t_sectors_op_read.sum a second time for this launch" gstats --reference a.csv three.gt
	printf '%s\n' kernel,grid,metric,value k,4-4,lts__t_sectors_op_read.sum,1 >a.csv
	expect_failure 1 "a.csv:2: '4-4': expected a shape" gstats --reference a.csv three.gt
	printf '%s\n' kernel,ordinal,metric,value k,0,lts__t_sectors_op_read.sum,1 >a.csv
	expect_failure 1 "a.csv:2:" gstats --reference a.csv three.gt
	expect_failure 1 "nowhere.csv" gstats --reference nowhere.csv three.gt
	expect_failure 2 "leave out --names" gstats --reference a.csv --names ncu three.gt
	expect_failure 2 "--errors: expected files" gstats --errors
	expect_failure 1 "a.csv:1: expected a line of the columns" gstats --errors a.csv
	printf '%s\n' metric,unit,hardware,ours m,u,1,x >a.csv
	expect_failure 1 "a.csv:2: '1', 'x': expected two numbers" gstats --errors a.csv
}

# Before and after, done by hand: l1.read_hit_ratio is 100 x 40 / 100 = 40 %, then 75 %; the total 100 x 40 / 110 = 36.3636 %.
@test "our own counters of two runs are compared by number, with words, arrays, ratios and the total" {
	printf '%s\n' '#kernel	id=1	name=a	grid=4,1,1	block=32,1,1' '#count	stage=schedule	kernel=1	limited_by=grid	sms=80' \
		'#count	stage=l1	kernel=1	reads=100	read_hits=40	mru=[30,10]' '#count	stage=l1	kernel=1	reads=7' \
		'#kernel	id=2	name=b	grid=4,1,1	block=32,1,1' '#count	stage=l1	kernel=2	reads=10	read_hits=0' |
		gtrace-cat --from >before.gt
	printf '%s\n' '#kernel	id=1	name=a	grid=4,1,1	block=32,1,1' '#count	stage=schedule	kernel=1	limited_by=shared	sms=80' \
		'#count	stage=l1	kernel=1	reads=100	read_hits=75	mru=[30,10,35]' '#count	stage=dram	kernel=1	reads=3' \
		'#kernel	id=3	name=c	grid=4,1,1	block=32,1,1' '#count	stage=l1	kernel=3	reads=10	read_hits=0' |
		gtrace-cat --from >after.gt
	gstats --csv before.gt >before.csv
	gstats --reference before.csv --csv after.gt >rows.csv
	diff - rows.csv <<-'CSV'
		id,kernel,grid,block,metric,unit,before.csv,after.gt,difference,note
		1,a,4x1x1,32x1x1,schedule.limited_by,,grid,shared,,
		1,a,4x1x1,32x1x1,schedule.sms,SMs,80,80,0,
		1,a,4x1x1,32x1x1,l1.reads,sectors,100,100,0,
		1,a,4x1x1,32x1x1,l1.read_hits,sectors,40,75,35,
		1,a,4x1x1,32x1x1,l1.mru[0],sectors,30,30,0,
		1,a,4x1x1,32x1x1,l1.mru[1],sectors,10,10,0,
		1,a,4x1x1,32x1x1,l1.mru[2],sectors,,35,,not in the reference
		1,a,4x1x1,32x1x1,l1.read_hit_ratio,% of reads,40,75,35,
		1,a,4x1x1,32x1x1,l1#2.reads,sectors,7,,,not modelled
		1,a,4x1x1,32x1x1,dram.reads,sectors,,3,,not in the reference
		2,,,,,,,,,not in the model
		3,c,4x1x1,32x1x1,,,,,,not in the reference
		,total,,,schedule.limited_by,,grid,shared,,
		,total,,,schedule.sms,SMs,80,80,0,
		,total,,,l1.reads,sectors,110,110,0,
		,total,,,l1.read_hits,sectors,40,75,35,
		,total,,,l1.mru[0],sectors,30,30,0,
		,total,,,l1.mru[1],sectors,10,10,0,
		,total,,,l1.mru[2],sectors,,35,,not in the reference
		,total,,,l1.read_hit_ratio,% of reads,36.3636,68.1818,31.8182,
		,total,,,l1#2.reads,sectors,7,,,not modelled
		,total,,,dram.reads,sectors,,3,,not in the reference
	CSV
	gstats --reference before.csv --as before,after --kernel a after.gt >table
	diff - table <<-'END'
		  kernel            counter              before   after  difference  unit
		  1 a 4x1x1 32x1x1  schedule.limited_by    grid  shared
		                    l1.read_hits             40      75          35  sectors     +87.5 %
		                    l1.mru[2]                        35              sectors     not in the reference
		                    l1.read_hit_ratio        40      75          35  % of reads
		                    l1#2.reads                7                      sectors     not modelled
		                    dram.reads                        3              sectors     not in the reference

		4 values are equal
	END
	gstats --reference before.csv --json before.gt | python3 -c 'if 1:
		import json, sys
		said = json.load(sys.stdin)
		assert said["sides"] == ["before.csv", "before.gt"] and said["errors"] == []
		word = [row for row in said["rows"] if row["metric"] == "schedule.limited_by"][0]
		assert word == {"kernel": "a", "id": 1, "grid": [4, 1, 1], "block": [32, 1, 1], "metric": "schedule.limited_by", "unit": "",
				"hardware": "grid", "ours": "grid", "difference": None, "note": ""}
		assert all(row["difference"] in (0, None) and row["note"] == "" for row in said["rows"])'
	gstats --reference before.csv <before.gt | grep -qx '19 values are equal' # 8 of a, 3 of b, 8 of the total
	gstats --reference before.csv --report page after.gt
	grep -q '>before.csv</th>' page/index.html
}

@test "our own counters are compared by name, if the file has the launches of a name together" {
	gstats --csv --by kernel three.gt >saved.csv
	gtrace-cat three.gt | sed 's/id=1\t/id=9\t/; s/kernel=1\t/kernel=9\t/; s/read_hits=500/read_hits=600/' | gtrace-cat --from >other.gt
	gstats --reference saved.csv --csv other.gt | cut -d, -f2,5- | grep l2.read_hits >rows
	diff - rows <<<'gemm,l2.read_hits,sectors,900,1000,100,'
	run ! grep total rows
	expect_failure 1 "no kernel has a name that 'nothing' matches: there is gemm" gstats --reference saved.csv --kernel nothing three.gt
}

# What --errors makes of rows under other names: |75 - 40| / 40 is 87.5 %.
@test "--as names the columns, also of what --errors reads, and wrong uses are named" {
	printf 'kernel,stage,counter,value\n1,l2,read_hits,40\n' >saved.csv
	printf '#kernel\tid=1\tname=a\n#count\tstage=l2\tkernel=1\tread_hits=75\n' | gtrace-cat --from >one.gt
	gstats --reference saved.csv --as a,b --csv one.gt | gstats --errors --csv - | grep -qx 'l2.read_hits,sectors,1,1,87.5,35,-,0.875'
	printf 'kernel,metric,value\na,lts__t_sectors_op_read_lookup_hit.sum,50\n' >hw.csv
	gstats --reference hw.csv --as V100,model one.gt | head -1 | grep -qE '^  kernel +metric +V100 +model +difference +unit$'
	for wrong in one a,b,c ,b a,; do
		expect_failure 2 "--as '$wrong': expected two names" gstats --reference hw.csv --as "$wrong" one.gt
	done
	expect_failure 2 "--as names the two sides of --reference" gstats --as a,b one.gt
	while IFS='|' read -r lines said; do
		printf "kernel,stage,counter,value\n$lines" >saved.csv
		expect_failure 1 "saved.csv:$said" gstats --reference saved.csv one.gt
	done <<-'END'
		1,l2,reads\n|2: expected 4 comma-separated values
		1,l2,reads,1\n1,l2,reads,2\n1,l1,reads,1\n|4: before this line, stage l2: expected each stage
		1,l2,reads,1\n1,l1,reads,1\n1,l2,reads,2\n1,dram,reads,1\n|5: before this line, stage l2: expected each stage
		1,l2,reads,1\n2,l2,reads,1\n1,l2,reads,1\n|4: kernel 1 a second time
		1,l2,reads,x\n|2: 'x' for reads: expected a number
		1,l2,mru[1],4\n|2: mru[1]: expected element 0
		1,,reads,1\n|2: stage '': expected a name
		1,l2,,1\n|2: counter '': expected a name
	END
}

# three_launches: those of tests/golden/accelsim.log, through the GPU that Accel-Sim's configuration describes; L1 forgets at the end of a
# kernel, and L2 keeps.
three_launches() {
	local ptx=$ROOT/examples/kernels/ptx
	gtrace-ptx --work --space global,shared --gpu quadro-v100 --launch 'histogram<<<4,256>>>(A=s32[1024]:ramp, B=s32[1024], 1024, 1024)' \
		--launch 'histogram<<<4,256>>>(A, B, 1024, 1024)' "$ptx/histogram.ptx" >h.gt
	gtrace-ptx --work --space global,shared --gpu quadro-v100 --launch 'transpose<<<(8,8),(16,16)>>>(f32[16384], f32[16384], 128, 128)' "$ptx/transpose.ptx" >t.gt
	gtrace gpu from-accelsim --quiet "$ROOT/tests/golden/gpgpusim.config" >qv100
	gtrace-order --work h.gt t.gt | gschedule --quiet --gpu ./qv100 | gcache --l1 --flush kernel | gcache --l2 --flush never | gdram
}

# tests/golden/accelsim.log has the lines of the log that Accel-Sim (dev, October 2024, SM7_QV100) wrote of these launches, from what
# gtrace-cat --traceg made of them. It counts from the beginning of the run.
@test "a log of Accel-Sim: each of its counts of three launches is ours" {
	three_launches >model.gt
	gstats --reference "$ROOT/tests/golden/accelsim.log" --csv model.gt >rows.csv
	head -n 1 rows.csv | grep -qx 'id,kernel,grid,block,metric,unit,Accel-Sim,ours,difference,note'
	grep -v ',not modelled$' rows.csv | awk -F, 'NR > 1 && $9 != 0' | diff - /dev/null
	[ "$(grep -vc ',not modelled$' rows.csv)" -gt 45 ]
	grep ',not modelled$' rows.csv | cut -d , -f 5 | grep -vE '(_pending_hits|\]\[(HIT|HIT_RESERVED|MSHR_HIT)\])$' | diff - /dev/null
	# by hand, from the log: [HIT] 10 + [HIT_RESERVED] 246 in all after the second launch, none after the first
	grep -F '2,histogram,4x1x1,256x1x1,L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT+HIT_RESERVED],sector,256,256,0,' rows.csv
	gstats --reference "$ROOT/tests/golden/accelsim.log" --as sim,model model.gt | head -n 1 | grep -qE ' sim +model +difference'
}

@test "a log of Accel-Sim: local memory, streams, older names, other kinds; a log that has not ended is refused" {
	cat >log <<-'END'
		        *** GPGPU-Sim Simulator Version 4.2.0  [build x] ***
		-kernel name = gemm
		-grid dim = (4,16,1)
		-block dim = (32,8,1)
		-kernel name = gemm
		-grid dim = (8,16,1)
		-block dim = (32,8,1)
		kernel_name = gemm 
		kernel_launch_uid = 2 
		kernel_stream_id = 7
			L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 1
			L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT_RESERVED] = 2
			L2_cache_stats_breakdown[LOCAL_ACC_R][HIT] = 4
			L2_cache_stats_breakdown[INST_ACC_R][HIT] = 3
			L2_cache_stats_breakdown[INST_ACC_R][RESERVATION_FAIL] = 3
			L1D_cache_stats_breakdown[GLOBAL_ACC_W][SECTOR_MISS] = 8
		total dram reads = 100
		kernel_name = gemm 
		kernel_launch_uid = 1 
		kernel_stream_id = 8
			L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT] = 5
		total dram reads = 130
		GPGPU-Sim: *** exit detected ***
	END
	gstats --reference log --csv three.gt 2>err | cut -d , -f 1-7 | grep sector >found
	diff found - <<-'END'
		3,gemm,8x16x1,32x8x1,Total_core_cache_stats_breakdown[GLOBAL_ACC_W][MISS+SECTOR_MISS],sector,8
		3,gemm,8x16x1,32x8x1,L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT],sector,5
		3,gemm,8x16x1,32x8x1,L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT+HIT_RESERVED],sector,7
		3,gemm,8x16x1,32x8x1,total dram reads,sector,100
		1,gemm,4x16x1,32x8x1,L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT],sector,5
		1,gemm,4x16x1,32x8x1,L2_cache_stats_breakdown[GLOBAL_ACC_R][HIT+HIT_RESERVED],sector,5
		1,gemm,4x16x1,32x8x1,total dram reads,sector,30
	END
	grep -qF 'L2_cache_stats_breakdown[INST_ACC_R][HIT]' err
	sed -i '/exit detected/d' log
	expect_failure 1 "the run has not ended" gstats --reference log three.gt
	{ sed 's/= 130/= 99/' log; echo 'GPGPU-Sim: *** exit detected ***'; } >falls
	expect_failure 1 "total dram reads falls from 100 to 99 in the launch that ends here" gstats --reference falls three.gt
	{ sed 's/= 130/= 13x/' log; echo 'GPGPU-Sim: *** exit detected ***'; } >word
	expect_failure 1 "word:22: total dram reads: expected a count" gstats --reference word three.gt
}

# The expressions are those of util/job_launching/stats/example_stats.yml, with which Accel-Sim's scripts read its logs.
@test "--names accelsim: what Accel-Sim's scripts look for, summed up over launches; read back, no difference" {
	three_launches >model.gt
	gstats --names accelsim model.gt >log
	gstats --names accelsim --csv model.gt >rows.csv
	python3 - <<-'PYTHON'
		import csv, re
		wanted = [r"\s+L2_cache_stats_breakdown\[GLOBAL_ACC_%s\]\[%s\]\s*=\s*(.*)" % (kind, what) for kind in "RW" for what in ("HIT", "TOTAL_ACCESS")]
		wanted += [r"\s+Total_core_cache_stats_breakdown\[GLOBAL_ACC_%s\]\[%s\]\s*=\s*(.*)" % (kind, what) for kind in "RW" for what in ("HIT", "TOTAL_ACCESS")]
		wanted += [r"total dram reads\s*=\s*(.*)", r"total dram writes\s*=\s*(.*)", r"kernel_launch_uid\s*=\s*(.*)"]
		lines = open("log").read().split("\n")
		assert [re.match(r"kernel_name\s+=\s+(.*)", line).group(1).strip() for line in lines if line.startswith("kernel_name")] == ["histogram", "histogram", "transpose"]
		assert re.match(r"GPGPU-Sim: \*\*\* exit detected \*\*\*", lines[-2])
		counts = {}
		for row in csv.DictReader(open("rows.csv")):
		    counts.setdefault(row["Metric Name"], []).append(int(row["Metric Value"]))
		for expression in wanted:
		    found = [int(m.group(1)) for m in (re.search(expression, line.rstrip()) for line in lines) if m]
		    name = next((name for name in counts if re.search(expression, "\t" + name + " = 1")), None)
		    assert len(found) == 3 and (name or found == [1, 2, 3]), (expression, found)
		    assert not name or found == [sum(counts[name][:n]) for n in (1, 2, 3)], (expression, found, counts[name])
	PYTHON
	gstats --reference log --csv model.gt | awk -F, 'NR > 1 && $9 != 0 && $10 != "not modelled"' | diff - /dev/null
	# a level without time has no sector that is still to come; one with time tells
	grep -qF '[HIT] =' log
	run grep -E 'HIT_RESERVED\] |MSHR_HIT|pending_hits|\[MISS\]|\[SECTOR_MISS\]' <(sed 's/\[HIT+HIT_RESERVED\]//' log)
	[ "$status" -eq 1 ]
	ordered conv | gschedule --gpu quadro-v100 | gcache --l1 --mshr 1x32 --latency fixed:100 >timed.gt
	gstats --names accelsim timed.gt >timed
	for name in HIT HIT_RESERVED MSHR_HIT TOTAL_ACCESS; do
		sed -n "s/.*Total_core.*GLOBAL_ACC_R\]\[$name\] = //p" timed
	done | tr '\n' ' ' >found
	gstats --csv timed.gt | awk -F, '$1 == 1 && $2 == "l1" { n[$3] = $4 } END { print n["read_hits"], n["merged_reads"], n["merged_reads"], n["reads"] " " }' | tr '\n' ' ' | tr -s ' ' | diff - found
	gstats --reference timed --csv timed.gt | grep -v not.modelled | awk -F, 'NR > 1 && $9 != 0' | diff - /dev/null
	expect_failure 2 "--names 'accel': expected gtrace, ncu, nvprof or accelsim" gstats --names accel model.gt
}

@test "damaged references give a report or one line" {
	python3 "$ROOT/tests/compare_reference.py" 7
	ordered gemm | gschedule --sm 4 | gcache --l2 --emit none >own.gt
	gstats --csv own.gt | grep -v mru >saved.csv
	gstats --names accelsim own.gt >log.csv
	python3 - <<-'PYTHON'
		import os, random, subprocess
		rnd = random.Random(1)
		for form in ("long", "wide", "table", "saved", "log"):
		    whole = open(form + ".csv", "rb").read()
		    for i in range(60 if os.environ.get("WHOLE") else 10):
		        data = bytearray(whole)
		        for _ in range(rnd.randrange(1, 6)):
		            at = rnd.randrange(len(data))
		            what = rnd.randrange(3)
		            if what == 0: data[at] = rnd.choice(b'",.0\n\r9-eKx \xc2\xff\x00')
		            elif what == 1: del data[at:at + rnd.randrange(1, 40)]
		            else: data[at:at] = rnd.choice([b'"', b',', b'\n', b'9' * 70, b'==', b'.', b'\xef\xbb\xbf'])
		        run = subprocess.run(["gstats", "--quiet", "--reference", "/dev/stdin", "own.gt"], input=bytes(data), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=20)
		        assert run.returncode in (0, 1), (run.returncode, run.stderr)
		        assert (run.returncode == 0) == (run.stderr == b"") and run.stderr.count(b"\n") <= 1, run.stderr
	PYTHON
}
