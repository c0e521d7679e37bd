# SPDX-License-Identifier: MIT
# The table of pipelines/README.md, "miss-classes": all kernels, five seeds.

setup() { cd "$ROOT" || return 1; }

@test "the README's miss classes are reproduced" {
	pipelines/miss-classes | while IFS= read -r line; do
		grep -qxF "| ${line//$'\t'/ | } |" pipelines/README.md || { echo "not in the README: $line"; exit 1; }
	done
}
