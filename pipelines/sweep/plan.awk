# SPDX-License-Identifier: MIT
# Reads a sweep file and writes the results to be made into the folder `plan`:
#   keys/N   all inputs of result N; their digest will be the result's name
#   nodes    N, the result it starts from (0: none), the kind (stream or counts), the command
#   points   section, the values of all axes, the result: a line for each point, separated by tabs
#   header   the names of the columns before the counters
#   counters the patterns of the counters wanted, a line each
# Stages that points share become one node: a tree over all prefixes of all pipes, in which a prefix with several
# continuations is a result of its own.

function fail(text) {
	printf "sweep: %s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 2
}

function trim(text) {
	gsub(/^[ \t]+|[ \t]+$/, "", text)
	return text
}

function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

# The digest of the files and programs that the words of a command name. All of them are taken at once: the points are
# walked twice, and the first time only the commands are noted.
function digest(command) {
	if (noting && !(command in digests)) {
		digests[command] = "-"
		asked[++n_asked] = command
	}
	return digests[command]
}

function take_digests(    i, file, ask) {
	file = plan "/commands"
	for (i = 1; i <= n_asked; i++)
		print asked[i] >file
	close(file)
	ask = "bash " quoted(here "/../digest") " --lines <" quoted(file)
	for (i = 1; i <= n_asked; i++)
		if ((ask | getline digests[asked[i]]) <= 0) {
			printf "sweep: cannot take digests\n" >"/dev/stderr"
			failed = 1
			exit 2
		}
	close(ask)
}

# The values of a GPU description, without comments.
function description(gpu,    line, ask) {
	if (!(gpu in descriptions)) {
		ask = "bash " quoted(here "/../digest") " --gpu " quoted(gpu) " 2>/dev/null"
		line = ""
		ask | getline line
		if (close(ask) || line == "") {
			printf "sweep: %s: gpu %s: cannot be read: see gtrace-cat --gpu %s\n", FILENAME, gpu, gpu >"/dev/stderr"
			failed = 1
			exit 2
		}
		descriptions[gpu] = line
	}
	return descriptions[gpu]
}

# The places {name} of a model, and its stages.
function learn_model(section, text,    parts, n, i, place) {
	n = split(text, parts, "|")
	for (i = 1; i <= n; i++) {
		stage[section, i] = trim(parts[i])
		if (stage[section, i] == "")
			fail("a stage of the model is empty")
		if (match(parts[i], /\{[a-z0-9_]+\}/)) {
			place = substr(parts[i], RSTART + 1, RLENGTH - 2)
			place_of[section, i] = place
			has_place[section, place] = 1
			places[section] = places[section] " " place
		}
	}
	stages[section] = n
}

function axis_stage(axis) {
	return index(axis, ".") ? substr(axis, 1, index(axis, ".") - 1) : "schedule"
}

function axis_option(axis) {
	return index(axis, ".") ? substr(axis, index(axis, ".") + 1) : axis
}

function learn_axis(axis, text,    list, n, i) {
	if (!(axis in axis_number)) {
		axis_number[axis] = ++n_axes
		axes[n_axes] = axis
	}
	if ((section, axis) in counts)
		fail(axis " is given twice")
	n = split(text, list, /[ \t]+/)
	if (n == 0 || text == "")
		fail("expected values after '" axis " ='")
	for (i = 1; i <= n; i++) {
		if (list[i] !~ /^[-A-Za-z0-9._:,\/+=%~@]+$/)
			fail("'" list[i] "' cannot be a value: letters, digits and -._:,/+=%~@ can")
		value[section, axis, i] = list[i]
	}
	counts[section, axis] = n
	if (axis == "trace")
		names_traces[FILENAME] = 1
	line_of[section, axis] = FNR
}

BEGIN {
	section = 0
	sections = 0
	name[0] = "base"
	learn_model(0, "gcoalesce {coalesce} | gschedule {schedule} | gcache --l1 {l1} | gcache --l2 {l2} | gdram {dram}")
	learn_axis("trace", "-")
	delete counts[0, "trace"]
	most = 100000
}

FNR == 1 { sub(/^\357\273\277/, "") } # a byte-order mark
{ sub(/\r$/, ""); sub(/(^|[ \t])#.*$/, ""); $0 = trim($0) }
$0 == "" { next }
/^\[[-A-Za-z0-9_.]+\]$/ {
	section = ++sections
	name[section] = substr($0, 2, length($0) - 2)
	if (name[section] in named)
		fail("there is a section " name[section] " already")
	named[name[section]] = 1
	next
}
/^input[ \t]+[-A-Za-z0-9_.]+[ \t]*=/ {
	key = trim(substr($0, 6, index($0, "=") - 6))
	if (key in input)
		fail("input " key " is given twice")
	input[key] = trim(substr($0, index($0, "=") + 1))
	input_line[key] = FNR
	input_file[key] = FILENAME
	if (input[key] == "")
		fail("expected a command after 'input " key " ='")
	next
}
/^model[ \t]*=/ {
	learn_model(section, substr($0, index($0, "=") + 1))
	next
}
/^counters[ \t]*=/ {
	n = split(trim(substr($0, index($0, "=") + 1)), wanted, /[ \t]+/)
	for (i = 1; i <= n; i++)
		print wanted[i] >(plan "/counters")
	next
}
/^[a-z][a-z0-9_]*(\.[a-z][-a-z0-9]*)?[ \t]*=/ || /^[a-z][-a-z0-9]*[ \t]*=/ {
	learn_axis(trim(substr($0, 1, index($0, "=") - 1)), trim(substr($0, index($0, "=") + 1)))
	next
}
{ fail("expected 'axis = value ...', 'input NAME = command', 'model = stages', 'counters = patterns', '[section]' or a remark") }

# The place of the value of an axis input.NAME in the command of an input.
function in_braces(axis) {
	return "{" axis_option(axis) "}"
}

# Whether an axis applies to the trace of a point: that of an input, if it has its place; that of a stage, if the model has it.
function applies(m, axis) {
	if (axis == "trace" || axis == "gpu")
		return 1
	if (axis_stage(axis) == "input")
		return now["trace"] in input && index(input[now["trace"]], in_braces(axis)) > 0
	return (m, axis_stage(axis)) in has_place
}

# The values of an axis in a section, which override the base's: 0 is the base, -1 none.
function owner(s, axis) {
	if ((s, axis) in counts)
		return s
	return (0, axis) in counts ? 0 : -1
}

# An input that no trace of the base or a section names would never be run. A file that names no traces has inputs for several
# sweeps, of which this one need not use all.
function check_inputs(    s, i, key, used) {
	for (s = 0; s <= sections; s++)
		for (i = 1; (s, "trace") in counts && i <= counts[s, "trace"]; i++)
			used[value[s, "trace", i]] = 1
	for (key in input)
		if (!(key in used) && input_file[key] in names_traces) {
			FNR = input_line[key]
			FILENAME = input_file[key]
			fail("input " key ": no 'trace =' names it")
		}
}

function check_section(s,    i, axis, m, key, used) {
	m = s in stages ? s : 0
	if (owner(s, "trace") < 0) {
		printf "sweep: %s: expected 'trace = file ...'\n", FILENAME >"/dev/stderr"
		failed = 1
		exit 2
	}
	for (i = 1; i <= n_axes; i++) {
		axis = axes[i]
		if (axis == "trace" || axis == "gpu" || !((s, axis) in counts) || (m, axis_stage(axis)) in has_place)
			continue
		if (s == 0 && sections > 0)
			continue # sections may have models of their own
		if (axis_stage(axis) == "input") {
			used = 0
			for (key in input)
				used = used || index(input[key], in_braces(axis))
			if (used)
				continue
			FNR = line_of[s, axis]
			fail(axis ": no input has " in_braces(axis))
		}
		FNR = line_of[s, axis]
		fail(axis ": the model has no stage {" axis_stage(axis) "}, it has" places[m])
	}
}

# The root of a point's pipe: a trace in order, or an input with the values of its axes.
function root_command(trace,    i, at, text) {
	if (!(trace in input))
		return "gtrace-order " trace
	text = input[trace]
	for (i = 1; i <= n_axes; i++)
		while (axis_stage(axes[i]) == "input" && (at = index(text, in_braces(axes[i]))))
			text = substr(text, 1, at - 1) now[axes[i]] substr(text, at + length(in_braces(axes[i])))
	return text
}

function root_key(trace,    command) {
	command = root_command(trace)
	if (trace in input)
		return command " " digest(command)
	if (digest(trace) == "") {
		printf "sweep: %s: trace %s: no such file, folder or input\n", FILENAME, trace >"/dev/stderr"
		failed = 1
		exit 2
	}
	return "gtrace-order " digest("gtrace-order") " " digest(trace)
}

# The options of one place, sorted by the names of the axes, so that the order of lines does not matter.
function options(m, place,    i, j, n, sorted, text, axis) {
	n = 0
	for (i = 1; i <= n_axes; i++) {
		axis = axes[i]
		if (axis == "trace" || now[axis] == "-")
			continue
		if (axis == "gpu" ? place == "coalesce" || place == "schedule" : axis_stage(axis) == place) {
			for (j = ++n; j > 1 && sorted[j - 1] > axis; j--)
				sorted[j] = sorted[j - 1]
			sorted[j] = axis
		}
	}
	text = ""
	for (i = 1; i <= n; i++)
		text = text " --" axis_option(sorted[i]) " " now[sorted[i]]
	return substr(text, 2)
}

# The node of a key below `parent`, known or new.
function node(key, parent, command) {
	if (!(key in number)) {
		number[key] = ++nodes
		key_of[nodes] = key
		parent_of[nodes] = parent
		command_of[nodes] = command
		children[parent]++
	}
	return number[key]
}

function add_point(s, m,    i, at, text, key, place, gpu, row) {
	if (++points[noting] > most) {
		printf "sweep: %s: more than %d points\n", FILENAME, most >"/dev/stderr"
		failed = 1
		exit 2
	}
	key = root_key(now["trace"])
	gpu = noting || now["gpu"] == "" || now["gpu"] == "-" ? "" : " " description(now["gpu"])
	at = noting ? 0 : node(key, 0, root_command(now["trace"]))
	for (i = 1; i <= stages[m]; i++) {
		text = stage[m, i]
		if ((m, i) in place_of) {
			place = place_of[m, i]
			sub(/\{[a-z0-9_]+\}/, options(m, place), text)
			text = trim(text)
		} else
			place = ""
		key = key "\n" text " " digest(text) (place == "coalesce" || place == "schedule" ? gpu : "")
		at = noting ? 0 : node(key, at, text)
	}
	digest("gstats")
	if (noting)
		return
	at = node(key "\ngstats --csv " digest("gstats"), at, "gstats --csv")
	is_point[at] = 1
	row = name[s]
	for (i = 1; i <= n_axes; i++)
		row = row "\t" now[axes[i]]
	print row "\t" at >(plan "/points")
}

# Every combination of the values of the axes from i on.
function cross(s, m, i,    o, v, axis) {
	if (i > n_axes) {
		add_point(s, m)
		return
	}
	axis = axes[i]
	o = owner(s, axis)
	if (o < 0 || !applies(m, axis)) {
		now[axis] = "-"
		cross(s, m, i + 1)
		return
	}
	for (v = 1; v <= counts[o, axis]; v++) {
		now[axis] = value[o, axis, v]
		cross(s, m, i + 1)
	}
}

END {
	if (failed)
		exit 2
	printf "" >(plan "/counters")
	check_inputs()
	row = "section"
	for (i = 1; i <= n_axes; i++)
		row = row "," axes[i]
	print row >(plan "/header")
	for (s = sections ? 1 : 0; s <= sections; s++)
		check_section(s)
	for (noting = 1; noting >= 0; noting--) {
		for (s = sections ? 1 : 0; s <= sections; s++)
			cross(s, s in stages ? s : 0, 1)
		if (noting)
			take_digests()
	}
	# A node is a result if it is a point or has several continuations; the others run within a pipe.
	for (i = 1; i <= nodes; i++) {
		up = parent_of[i]
		lead = command_of[i]
		start[i] = up
		if (up && !(children[up] > 1)) {
			lead = pipe_of[up] " | " lead
			start[i] = start[up]
		}
		pipe_of[i] = lead
		if (children[i] > 1 || is_point[i]) {
			printf "%d\t%d\t%s\t%s\n", i, start[i], is_point[i] ? "counts" : "stream", lead >(plan "/nodes")
			file = sprintf("%s/keys/%d", plan, i)
			print key_of[i] >file
			close(file)
		}
	}
}
