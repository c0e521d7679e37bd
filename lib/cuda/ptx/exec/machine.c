/* SPDX-License-Identifier: MIT */
/* The machine: what it notes, its lane operations and which instructions of the processor these use, the programs of its kernels, and the
 * variables of its module in device memory. */
#if defined __x86_64__
#include <cpuid.h>
#endif
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "cuda/ptx/exec/code.h"
#include "cuda/ptx/exec/machine.h"

/* ---- notes ---- */

/* Whether a name has been reported, or there is no room for it. */
static bool is_said(const struct gt_ptx_notes *notes, const char *name)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strcmp(notes->said[i], name) == 0)
			return true;
	return notes->n == GT_PTX_NOTES;
}

void gt_ptx_note_text(struct gt_ptx_notes *notes, const char *name, const char *text)
{
	if (is_said(notes, name))
		return;
	notes->said[notes->n++] = name;
	if (!notes->quiet)
		notes->say(notes->context, text);
}

void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why)
{
	char text[GT_PTX_NOTE_TEXT];

	if (!notes || is_said(notes, name))
		return;
	snprintf(text, sizeof text, "PTX line %u: %s is ignored: %s", line, name, why);
	gt_ptx_note_text(notes, name, text);
}

void gt_ptx_note_clock(struct gt_ptx_notes *notes, const char *kernel, const char *clock)
{
	const uint64_t hash = XXH3_64bits(kernel, strlen(kernel));
	char text[GT_PTX_NOTE_TEXT];

	if (!notes || notes->quiet || notes->n_clocks == GT_PTX_NOTES)
		return;
	for (size_t i = 0; i < notes->n_clocks; i++)
		if (notes->clocks[i] == hash)
			return;
	notes->clocks[notes->n_clocks++] = hash;
	snprintf(text, sizeof text,
		 "warning: kernel %.128s reads %s, which counts here the instructions that the warp has issued: no time was measured",
		 kernel, clock);
	notes->say(notes->context, text);
}

void gt_ptx_note_end(struct gt_ptx_notes *notes, const char *text)
{
	char line[sizeof notes->last + 64];

	notes->ended++;
	if (!notes->fault || strncmp(text, notes->last, sizeof notes->last - 1) == 0)
		return;
	snprintf(notes->last, sizeof notes->last, "%s", text);
	snprintf(line, sizeof line, "%s: the launch ends here, and so does the stream", text);
	notes->fault(notes->context, line);
}

const char *gt_ptx_notes_sum(const struct gt_ptx_notes *notes, char text[GT_PTX_FAULTS_TEXT])
{
	char ended[64] = "";

	if (notes->faults == 0 && notes->ended == 0)
		return NULL;
	if (notes->ended > 0)
		snprintf(ended, sizeof ended, ", %" PRIu64 " launches that ended early", notes->ended);
	snprintf(text, GT_PTX_FAULTS_TEXT,
		 "memcheck: %" PRIu64 " instructions at fault, %" PRIu64 " accesses by threads%s: the stream has no end",
		 notes->faults, notes->accesses, ended);
	return text;
}

/* ---- lane operations by name ---- */

const struct gt_ptx_forms *const gt_ptx_form_tables[GT_PTX_FORM_TABLES] = {
	&gt_ptx_integer_forms, &gt_ptx_float_forms, &gt_ptx_compare_forms, &gt_ptx_bit_forms, &gt_ptx_wide_forms,
	&gt_ptx_convert_forms, &gt_ptx_move_forms, &gt_ptx_lane_forms, &gt_ptx_half_forms,
};

/* All forms by name: open addressing, FNV-1a of the name. The tables have some 1500 rows. */
#define PLACES 8192
static const struct gt_ptx_form *by_name[PLACES];
static pthread_once_t named = PTHREAD_ONCE_INIT;

/* The slot of the name, or the free slot where it belongs. */
static const struct gt_ptx_form **place_of(const char *name)
{
	uint32_t hash = 2166136261;

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619;
	while (by_name[hash % PLACES] && strcmp(by_name[hash % PLACES]->name, name) != 0)
		hash++;
	return &by_name[hash % PLACES];
}

/* Of several rows with one name, the first is used. */
static void name_forms(void)
{
	for (size_t t = 0; t < GT_PTX_FORM_TABLES; t++)
		for (size_t i = 0; i < gt_ptx_form_tables[t]->n; i++) {
			const struct gt_ptx_form **place = place_of(gt_ptx_form_tables[t]->rows[i].name);
			*place = *place ? *place : &gt_ptx_form_tables[t]->rows[i];
		}
}

const struct gt_ptx_form *gt_ptx_form_named(const char *name)
{
	pthread_once(&named, name_forms);
	return *place_of(name);
}

/* ---- the instructions of the processor that they use ---- */

/* What $GTRACE_PTX_LEVEL may be: the widest steps, whether machine code is made, and whether that may use AVX-512. */
static const struct level {
	const char *name;
	enum gt_ptx_simd widest;
	bool native, avx512;
} levels[] = {
	{"plain", GT_PTX_PLAIN, false, false},
	{"avx2", GT_PTX_VARIANTS - 1, false, false},
	{"avx2-native", GT_PTX_VARIANTS - 1, true, false},
	{"native", GT_PTX_VARIANTS - 1, true, true},
};
enum { NATIVE = 3, UNKNOWN };
static unsigned chosen;
static bool has_avx2, has_avx512;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

#if defined __x86_64__
/* Not by __builtin_cpu_supports, which older versions of clang have without f16c. In a virtual machine the instruction takes some
 * microseconds, so it is asked once. */
static bool has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

static void ask(void)
{
	const char *name = getenv("GTRACE_PTX_LEVEL");

	chosen = name ? 0 : NATIVE;
	while (name && chosen < UNKNOWN && strcmp(levels[chosen].name, name) != 0)
		chosen++;
#if defined __x86_64__
	has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
	has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
#endif
}

/* UNKNOWN is refused before a kernel is decoded. */
static const struct level *limit(void)
{
	pthread_once(&asked, ask);
	return &levels[chosen < UNKNOWN ? chosen : NATIVE];
}

static int check_level(struct gt_error *error)
{
	limit();
	if (chosen < UNKNOWN)
		return 0;
	return gt_fail(error, "GTRACE_PTX_LEVEL: '%.64s': plain, avx2, avx2-native or native expected", getenv("GTRACE_PTX_LEVEL"));
}

enum gt_ptx_simd gt_ptx_simd_variant(void)
{
	const struct level *level = limit();

	return has_avx2 ? level->widest : GT_PTX_PLAIN;
}

bool gt_ptx_makes_native(void)
{
	return limit()->native && has_avx2;
}

bool gt_ptx_uses_avx512(void)
{
	return limit()->avx512 && has_avx512;
}

/* ---- programs ---- */

void gt_ptx_code_free(struct gt_ptx_code *code)
{
	if (!code)
		return;
	for (size_t i = 0; i < code->n_owned; i++)
		free(code->owned[i]);
	free(code->owned);
	if (code->native)
		munmap(code->native, code->native_bytes);
	free(code->segments);
	free(code->entries);
	free(code->accesses);
	free(code->specials);
	free(code->slots);
	free(code->locals);
	free(code->image);
	free(code->unset);
	free(code->ops);
	free(code);
}

void gt_ptx_program_free(struct gt_ptx_program *program, size_t n_functions)
{
	if (!program)
		return;
	gt_ptx_program_free(program->copy, n_functions);
	for (size_t i = 0; program->codes && i < n_functions; i++)
		gt_ptx_code_free(program->codes[i]);
	free(program->codes);
	free(program->shared);
	free(program);
}

void gt_ptx_forget_allocations(const struct gt_ptx_program *program, size_t n_functions)
{
	for (size_t f = 0; f < n_functions; f++)
		for (size_t i = 0; program->codes[f] && i < program->codes[f]->n_accesses; i++) {
			program->codes[f]->accesses[i]->low = 1;
			program->codes[f]->accesses[i]->high = 0;
		}
}

/* ---- the module's variables ---- */

/* The machine: the variables of a module in device memory, and the programs of its kernels. */

/* The value of an address in an initialiser. */
static int resolve_reference(const struct gt_ptx_machine *machine, const struct gt_ptx_reference *reference,
			     uint64_t *value, struct gt_error *error)
{
	size_t variable = gt_ptx_variable_index(machine->module, reference->symbol);
	size_t function = gt_ptx_function_index(machine->module, reference->symbol);

	if (variable != SIZE_MAX && machine->variables[variable].address)
		*value = machine->variables[variable].address + (uint64_t)reference->addend;
	else if (function != SIZE_MAX)
		*value = GT_PTX_FUNCTION_BASE + function * GT_PTX_FUNCTION_STEP;
	else
		return gt_fail(error,
			       "%s: an initial value has the address of '%s', which is not in device memory",
			       machine->name, reference->symbol);
	return 0;
}

static int initialise_variable(struct gt_ptx_machine *machine, size_t i, struct gt_error *error)
{
	const struct gt_ptx_variable *variable = &machine->module->variables[i];
	unsigned char *host = gt_ptx_at(machine->memory, machine->variables[i].address, variable->bytes);

	gt_ptx_wrote(machine->memory, machine->variables[i].address, variable->bytes); /* 0 without an initial value */
	if (variable->initial)
		memcpy(host, variable->initial, variable->bytes);
	for (size_t r = 0; r < variable->n_references; r++) {
		const struct gt_ptx_reference *reference = &variable->references[r];
		uint64_t value = 0;
		if (reference->offset > variable->bytes || variable->bytes - reference->offset < sizeof value)
			return gt_fail(error, "%s:%u: an address does not fit into '%s'", machine->name,
				       variable->line, variable->name);
		if (resolve_reference(machine, reference, &value, error) != 0)
			return -1;
		memcpy(host + reference->offset, &value, sizeof value);
	}
	return 0;
}

static bool is_placed(const struct gt_ptx_variable *variable)
{
	return (variable->space == GT_PTX_GLOBAL || variable->space == GT_PTX_CONST) && !variable->external && variable->bytes > 0;
}

static int place_variable(struct gt_ptx_machine *machine, size_t i, struct gt_error *error)
{
	const struct gt_ptx_variable *variables = machine->module->variables;
	char name[GT_PTX_VARIABLE_NAME];
	unsigned same = 0;

	for (size_t j = 0; j < i; j++)
		same += is_placed(&variables[j]) && gt_ptx_plain_same(variables[j].name, variables[i].name);
	machine->memory->kind = variables[i].managed ? GT_PTX_MANAGED : GT_PTX_OF_DEVICE;
	int result = gt_ptx_allocate(machine->memory, variables[i].bytes, gt_ptx_variable_name(variables[i].name, same, name),
				     &machine->variables[i].address, error);
	machine->memory->kind = GT_PTX_OF_DEVICE;
	return result;
}

static int place_variables(struct gt_ptx_machine *machine, struct gt_error *error)
{
	const struct gt_ptx_module *module = machine->module;

	machine->variables = calloc(module->n_variables + 1, sizeof *machine->variables);
	if (!machine->variables)
		return gt_fail_memory(error, "a module");
	for (size_t i = 0; i < module->n_variables; i++)
		if (is_placed(&module->variables[i]) && place_variable(machine, i, error) != 0)
			return -1;
	for (size_t i = 0; i < module->n_variables; i++)
		if (machine->variables[i].address && initialise_variable(machine, i, error) != 0)
			return -1;
	return 0;
}

struct gt_ptx_machine *gt_ptx_machine_open(const struct gt_ptx_module *module, struct gt_ptx_memory *memory,
					   const char *name, struct gt_error *error)
{
	static uint64_t machines;

	if (check_level(error) != 0)
		return NULL;
	struct gt_ptx_machine *machine = calloc(1, sizeof *machine);
	if (!machine || !(machine->name = malloc(strlen(name) + 1))) {
		free(machine);
		gt_fail_memory(error, "a machine");
		return NULL;
	}
	strcpy(machine->name, name);
	machine->module = module;
	machine->memory = memory;
	machine->serial = ++machines;
	machine->figures = calloc(module->n_functions + 1, sizeof *machine->figures);
	if (!machine->figures)
		gt_fail_memory(error, "a machine");
	else if (place_variables(machine, error) == 0)
		return machine;
	gt_ptx_machine_close(machine);
	return NULL;
}

void gt_ptx_machine_notes(struct gt_ptx_machine *machine, struct gt_ptx_notes *notes)
{
	machine->notes = notes;
}

void gt_ptx_machine_gpu(struct gt_ptx_machine *machine, unsigned capability, uint32_t full_registers)
{
	machine->capability = capability;
	machine->full_registers = full_registers;
}

struct gt_ptx_memory *gt_ptx_machine_memory(const struct gt_ptx_machine *machine)
{
	return machine->memory;
}

void gt_ptx_machine_close(struct gt_ptx_machine *machine)
{
	struct gt_error ignored;

	if (!machine)
		return;
	if (machine->spare)
		machine->free_spare(machine);
	while (machine->programs) {
		struct gt_ptx_program *next = machine->programs->next;
		gt_ptx_program_free(machine->programs, machine->module->n_functions);
		machine->programs = next;
	}
	for (size_t i = 0; machine->variables && i < machine->module->n_variables; i++)
		if (machine->variables[i].address)
			gt_ptx_free(machine->memory, machine->variables[i].address, &ignored);
	free(machine->figures);
	free(machine->variables);
	free(machine->name);
	free(machine);
}

/* The variable of that name, or the one of a linked unit that had it there: compilers register static variables by names that no other unit
 * has. */
static size_t find_variable(const struct gt_ptx_machine *machine, const char *name, bool in_unit)
{
	const size_t length = strlen(name);
	size_t i = 0;

	for (; i < machine->module->n_variables; i++) {
		const char *found = machine->module->variables[i].name;
		if (!machine->variables[i].address || strncmp(found, name, length) != 0)
			continue;
		if (in_unit ? strncmp(found + length, GT_PTX_UNIT, strlen(GT_PTX_UNIT)) == 0 : found[length] == '\0')
			break;
	}
	return i;
}

int gt_ptx_symbol(const struct gt_ptx_machine *machine, const char *name, uint64_t *address, uint64_t *bytes,
		  struct gt_error *error)
{
	size_t i = find_variable(machine, name, false);

	if (i == machine->module->n_variables)
		i = find_variable(machine, name, true);
	if (i < machine->module->n_variables) {
		*address = machine->variables[i].address;
		*bytes = machine->module->variables[i].bytes;
		return 0;
	}
	return gt_fail(error, "%s: no variable '%s' in device memory", machine->name, name);
}

size_t gt_ptx_parameter_offset(const struct gt_ptx_function *kernel, size_t i)
{
	size_t at = 0;

	for (size_t k = 0; k <= i && k < kernel->n_parameters; k++) {
		size_t alignment = kernel->parameters[k].alignment ? kernel->parameters[k].alignment : 1;
		at = (at + alignment - 1) / alignment * alignment;
		if (k < i)
			at += (size_t)kernel->parameters[k].bytes;
	}
	return at;
}

size_t gt_ptx_parameter_bytes(const struct gt_ptx_function *kernel)
{
	size_t n = kernel->n_parameters;

	return n ? gt_ptx_parameter_offset(kernel, n - 1) + (size_t)kernel->parameters[n - 1].bytes : 0;
}
