# SPDX-License-Identifier: MIT
# Reads the --help of `tool`; `helped` are the words that its command help takes. An option stands at the beginning of a line,
# "-o, --output FILE  text"; a command is the second word of a line of the usage, or a line of its own where the usage says KIND.

# The words that an argument may be: "block|an" itself, GPUs, or "" for a file or anything.
function words_of(name, argument,    list) {
	if (name == "--gpu")
		return gpus
	if (argument !~ /^[a-z0-9-]+([|][a-z0-9-]+)+$/)
		return ""
	list = argument
	gsub(/[|]/, " ", list)
	return list
}

function add(short, long, argument, text) {
	n++
	shorts[n] = short
	longs[n] = long
	arguments[n] = argument
	texts[n] = text
	values[n] = words_of(long, argument)
}

# "-S, --memory SIZE  text", also where a single blank stands before the text.
function option(line,    word, argument, k, names) {
	names = 0
	argument = ""
	while (line ~ /^-/) {
		match(line, /^[^ ,]+/)
		word[++names] = substr(line, 1, RLENGTH)
		line = substr(line, RLENGTH + 1)
		if (line ~ /^, -/) {
			line = substr(line, 3)
			continue
		}
		if (match(line, /^ [^ ]+/) && (substr(line, 2, 1) ~ /[A-Z]/ || substr(line, 2, RLENGTH - 1) ~ /[|]/)) {
			argument = substr(line, 2, RLENGTH - 1)
			line = substr(line, RLENGTH + 1)
		}
		break
	}
	sub(/^[ ,]+/, "", line)
	if (names == 2 && word[1] ~ /^-[^-]/ && word[2] ~ /^--/)
		add(word[1], word[2], argument, line)
	else
		for (k = 1; k <= names; k++)
			add(word[k] ~ /^--/ ? "" : word[k], word[k] ~ /^--/ ? word[k] : "", argument, line)
}

NR == 1 || (in_usage && /^       /) { # as many blanks as "usage: "
	in_usage = 1
	line = $0
	sub(/^usage:/, "", line)
	sub(/^ +/, "", line)
	if (index(line, tool " ") == 1) {
		split(line, part, " ")
		if (part[2] ~ /^[a-z]+$/ && !(part[2] in commands)) {
			commands[part[2]] = ""
			order[++n_commands] = part[2]
		}
		if (part[2] == "KIND")
			has_kinds = 1
	}
	next
}
{ in_usage = 0 }
/^ +-/ && match($0, /-/) <= 7 { # not a line of text that goes on
	line = $0
	sub(/^ +/, "", line)
	option(line)
	next
}
# The text of the last option goes on.
n > 0 && $0 != "" && substr($0, 1, 20) ~ /^ +$/ {
	line = $0
	sub(/^ +/, "", line)
	texts[n] = texts[n] (texts[n] == "" ? "" : " ") line
	next
}
has_kinds && /^  [a-z]+   / {
	commands[$1] = $0
	sub(/^ *[a-z]+ +/, "", commands[$1])
	order[++n_commands] = $1
}

# In single quotes for a shell.
function quoted(text) {
	gsub(/'/, "'\\''", text)
	return "'" text "'"
}

function write_bash(    file, k, list, name) {
	file = bash "/" tool
	name = "_" tool
	gsub(/-/, "_", name)
	print "# bash completion of " tool ", made from its --help" >file
	print name "() {" >file
	print "\tlocal word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}" >file
	print "\tCOMPREPLY=()" >file
	print "\tcase $before in" >file
	for (k = 1; k <= n; k++) {
		if (arguments[k] == "")
			continue
		list = shorts[k] (shorts[k] && longs[k] ? "|" : "") longs[k]
		if (values[k])
			print "\t" list ") mapfile -t COMPREPLY < <(compgen -W " quoted(values[k]) " -- \"$word\"); return ;;" >file
		else
			print "\t" list ") mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); return ;;" >file
	}
	print "\tesac" >file
	list = ""
	for (k = 1; k <= n; k++)
		list = list (shorts[k] ? " " shorts[k] : "") (longs[k] ? " " longs[k] : "")
	print "\tif [[ $word == -* ]]; then" >file
	print "\t\tmapfile -t COMPREPLY < <(compgen -W " quoted(substr(list, 2)) " -- \"$word\")" >file
	list = ""
	for (k = 1; k <= n_commands; k++)
		list = list " " order[k]
	if (list) {
		print "\telif [[ $COMP_CWORD -eq 1 ]]; then" >file
		print "\t\tmapfile -t COMPREPLY < <(compgen -W " quoted(substr(list, 2)) " -- \"$word\")" >file
	}
	if (helped) {
		print "\telif [[ $COMP_CWORD -eq 2 && $before == help ]]; then" >file
		print "\t\tmapfile -t COMPREPLY < <(compgen -W " quoted(helped) " -- \"$word\")" >file
	}
	print "\telse" >file
	print "\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")" >file
	print "\tfi" >file
	print "}" >file
	print "complete -o filenames -F " name " " tool >file
	close(file)
}

# The text of an option between brackets.
function zsh_text(text) {
	gsub(/\\/, "\\\\", text)
	gsub(/\[/, "\\[", text)
	gsub(/\]/, "\\]", text)
	gsub(/:/, "\\:", text)
	return text
}

function write_zsh(    file, k, list, argument) {
	file = zsh "/_" tool
	print "#compdef " tool >file
	print "# zsh completion of " tool ", made from its --help" >file
	printf "_arguments -s" >file
	for (k = 1; k <= n; k++) {
		argument = ""
		if (arguments[k] != "")
			argument = ":" zsh_text(arguments[k]) ":" (values[k] ? "(" values[k] ")" : "_files")
		list = "[" zsh_text(texts[k]) "]" argument
		if (shorts[k])
			printf " \\\n\t%s", quoted(shorts[k] list) >file
		if (longs[k])
			printf " \\\n\t%s", quoted(longs[k] (argument ? "=" : "") list) >file
	}
	list = ""
	for (k = 1; k <= n_commands; k++)
		list = list " " order[k]
	if (list)
		printf " \\\n\t%s", quoted("1:command:(" substr(list, 2) ")") >file
	if (helped)
		printf " \\\n\t%s", quoted("2: :{[[ $words[2] == help ]] && compadd " helped " || _files}") >file
	printf " \\\n\t%s\n", quoted("*:file:_files") >file
	close(file)
}

function write_fish(    file, k) {
	file = fish "/" tool ".fish"
	print "# fish completion of " tool ", made from its --help" >file
	for (k = 1; k <= n; k++) {
		printf "complete -c %s%s%s", tool, shorts[k] ? " -s " substr(shorts[k], 2) : "", longs[k] ? " -l " substr(longs[k], 3) : "" >file
		if (values[k])
			printf " -x -a %s", quoted(values[k]) >file
		else if (arguments[k] != "")
			printf " -r" >file
		print (texts[k] ? " -d " fish_quoted(texts[k]) : "") >file
	}
	if (helped)
		print "complete -c " tool " -f -n '__fish_seen_subcommand_from help' -a " quoted(helped) >file
	for (k = 1; k <= n_commands; k++)
		print "complete -c " tool " -n __fish_use_subcommand -a " order[k] (commands[order[k]] ? " -d " fish_quoted(commands[order[k]]) : "") >file
	close(file)
}

function fish_quoted(text) {
	gsub(/\\/, "\\\\", text)
	gsub(/'/, "\\'", text)
	return "'" text "'"
}

END {
	write_bash()
	write_zsh()
	write_fish()
}
