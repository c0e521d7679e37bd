# SPDX-License-Identifier: MIT
# [004] figure 9: reads of DRAM as the hit ratio of L2 foretells them, L2 reads x (1 - read hit ratio), against those counted: from
# gstats --csv, or from tables of tests/reference with hardware's counters, by the names of nvprof and of Nsight Compute. The last
# row has the mean of the errors, of their absolute values, and Pearson's r. Kernels without reads of DRAM are left out.
BEGIN { OFS = "\t" }

{ split_fields($0) }

FNR == 1 {
	hardware = field[1] == "gpu"
	for (i in at)
		delete at[i]
	for (i = 1; i <= fields; i++)
		at[field[i]] = i
	if (!hardware && !("counter" in at) || hardware && !("metric" in at && "value" in at)) {
		print "yuan-figure9: " FILENAME ": expected the columns of gstats --csv, or gpu, ... metric, value" | "cat 1>&2"
		failed = 1
		exit 1
	}
	next
}

!hardware && field[1] != "total" && (field[2] == "l2" || field[2] == "dram") { take("", field[1], field[2] "." field[3], field[4]) }

# A launch is known by everything before the metric. A later row of one metric is of another launch.
hardware {
	launch = ""
	for (i = 2; i < at["metric"]; i++)
		launch = launch (field[i] == "" ? "" : " " field[i])
	metric = field[at["metric"]]
	take(field[1], substr(launch, 2) SUBSEP seen[FILENAME, launch, metric]++, metric, field[at["value"]])
}

# A field may be in quotes, within which commas separate nothing and "" is a quote.
function split_fields(line,    quoted) {
	fields = 0
	do {
		quoted = match(line, /^"([^"]|"")*"/)
		if (!quoted)
			match(line, /^[^,]*/)
		field[++fields] = quoted ? substr(line, 2, RLENGTH - 2) : substr(line, 1, RLENGTH)
		gsub(/""/, "\"", field[fields])
		line = substr(line, RLENGTH + 1)
	} while (sub(/^,/, "", line))
}

function take(device, launch, metric, number,    key) {
	if (device != "" && !(device in devices)) {
		devices[device] = 1
		devices_n++
	}
	key = FILENAME SUBSEP launch
	if (!(key in place)) {
		place[key] = ++n
		gpu[n] = device
		name[n] = launch
		sub(SUBSEP ".*", "", name[n])
	}
	value[place[key], metric] = number
}

function have(i, metric) { return (i, metric) in value }

# Whether launch i has reads of L2, and those that hit: by the counts of reads, hits and misses, and the rate of hits.
function read_l2(i, count, hit, miss, rate) {
	reads = hits = -1
	if (have(i, count))
		reads = value[i, count]
	else if (have(i, hit) && have(i, miss))
		reads = value[i, hit] + value[i, miss]
	if (have(i, hit))
		hits = value[i, hit]
	else if (have(i, miss))
		hits = reads - value[i, miss]
	else if (have(i, rate))
		hits = reads * value[i, rate] / 100
	return reads > 0 && hits >= 0
}

# Reads of DRAM of launch i, in sectors; 0 if they were not counted.
function reads_of_dram(i,    names, list, k) {
	names = split("dram.reads dram_read_transactions dram__sectors_read.sum dram__sectors_op_read.sum", list, " ")
	for (k = 1; k <= names; k++)
		if (have(i, list[k]))
			return value[i, list[k]]
	return have(i, "dram__bytes_read.sum") ? value[i, "dram__bytes_read.sum"] / 32 : 0
}

function read_ncu(i, prefix) {
	return read_l2(i, prefix "read.sum", prefix "read_lookup_hit.sum", prefix "read_lookup_miss.sum", "lts__t_sector_op_read_hit_rate.pct")
}

END {
	if (failed)
		exit 1
	print "kernel", "l2_reads", "l2_read_hit_ratio", "foretold", "dram_reads", "error"
	for (i = 1; i <= n; i++)
		if (reads_of_dram(i) > 0 && (read_l2(i, "l2.reads", "l2.read_hits", "", "") ||
				read_l2(i, "l2_tex_read_transactions", "", "", "l2_tex_read_hit_rate") ||
				read_ncu(i, "lts__t_sectors_op_") || read_ncu(i, "lts__t_sectors_srcunit_tex_op_")))
			row(i, reads, 100 * hits / reads, reads_of_dram(i))
	if (rows == 0)
		exit
	r = (rows * sum_xx - sum_x * sum_x) * (rows * sum_yy - sum_y * sum_y)
	print "mean of " rows, "-", "-", "-", "-", sprintf("%.1f, absolute %.1f, r %s", errors / rows, absolute / rows,
		r > 0 ? sprintf("%.3f", (rows * sum_xy - sum_x * sum_y) / sqrt(r)) : "-")
}

function row(i, reads, ratio, counted,    foretold, off, shown) {
	foretold = reads * (1 - ratio / 100)
	off = 100 * (foretold / counted - 1)
	shown = sprintf("%.1f", off)
	sub(/^-0\.0$/, "0.0", shown)
	print (devices_n > 1 ? gpu[i] " " : "") name[i], reads, sprintf("%.2f", ratio), sprintf("%.0f", foretold), counted, shown
	rows++
	errors += off
	absolute += off < 0 ? -off : off
	sum_x += foretold; sum_y += counted; sum_xx += foretold * foretold; sum_yy += counted * counted; sum_xy += foretold * counted
}
