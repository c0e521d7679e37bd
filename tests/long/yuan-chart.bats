# SPDX-License-Identifier: MIT
# The tables of pipelines/README.md, "The model of [004]", at the paper's sizes: some minutes.

setup() { cd "$ROOT" || return 1; }

# in_readme: every line of standard input, but the first, is a row of a table there.
in_readme() {
	sed 1d | while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" pipelines/README.md || { echo "not in the README: $line"; exit 1; }
	done
}

@test "the chart of L2's hits by the model of [004] and by PPT-GPU-Mem" { pipelines/yuan-chart | in_readme; }

@test "the errors without each improvement" { pipelines/yuan-chart --errors BP HS PF NN JACOBI 2DCONV | in_readme; }
