/* SPDX-License-Identifier: MIT */
/* Launches that are the same as an earlier one (again.h). What a launch does follows from its arguments and the contents of the
 * allocations that it accesses, which are noted as it looks them up (gt_ptx_bounds). They are compared by hashes of their pieces, which
 * costs time too: only where the launch takes longer, and less and less often for a kernel that finds other contents each time, or whose
 * launches do not come again. Nothing is compared if no memory has changed since (memory->changes), as in a loop that measures a kernel. */
#include "cuda/ptx/record/again.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grown.h"
#include "base/spill.h"
#include "stream/records.h"
#define XXH_INLINE_ALL
#include <xxhash.h>

#define PIECE GT_PTX_PAGE /* bytes of memory that have one hash */
#define SLOTS 1024	  /* of launches that are told apart */
#define LEAST 65536	  /* warp instructions of a launch that is worth it */
#define LEAST_IN_A_ROW 4096 /* the same of one that has come IN_A_ROW times */
#define BYTES_PER_INSTRUCTION 32 /* of memory that are hashed in a part of the time that an instruction of a warp takes */
#define MOST ((uint64_t)2 << 30) /* bytes that are kept of all launches */
#define MISSES_MOST 16
#define KERNELS 256 /* that are told apart */
#define TRIES 2	    /* launches of a kernel that are remembered before one of them has come again; then fewer and fewer */
#define IN_A_ROW 3 /* launches, until one is remembered although to compare memory takes longer: more are likely then */

/* Bytes of memory that a launch changed, or of its records. */
struct kept {
	unsigned char *data;
	size_t n;
	uint64_t address; /* in device memory; 0: records */
	struct gt_segment *segment;
};

/* Memory that a launch accesses: a whole allocation. */
struct part {
	uint64_t address, bytes;
	unsigned owner;
};

/* Launches of a kernel with the same arguments. */
struct slot {
	XXH128_hash_t key;
	bool taken;
	/* Of the last one that was executed: */
	uint64_t instructions;
	struct part *parts; /* that it accessed */
	size_t parts_n;
	uint64_t parts_bytes;
	unsigned misses;       /* how often the memory was another one than that which was remembered */
	uint64_t wait;	       /* launches until one is remembered again */
	bool by_host;	       /* the host may have changed the memory without a call */
	uint64_t after;	       /* memory->changes behind it */
	unsigned in_a_row;     /* how many were executed with no change in between */
	/* One of them, if it is known: */
	bool known;
	uint64_t used;	  /* when it was, for the last time */
	bool changes;	  /* any memory */
	uint64_t as_before; /* memory->changes when the memory was as before it */
	uint64_t *before; /* hashes of the pieces of all parts */
	size_t n;
	struct gt_ptx_ran ran;
	struct kept *kept;
	size_t kept_n, kept_capacity;
	uint64_t bytes; /* of all that is kept */
	uint64_t rows;	/* in its records */
};

/* Whether it pays to remember launches of a kernel, with whatever arguments: a sort launches one with many. */
struct kernel {
	uint64_t key;
	bool taken;
	bool pays;	/* the last one that was compared had come again */
	unsigned tries; /* remembered since then */
	uint64_t wait;	/* launches until one is remembered again */
};

struct gt_ptx_again {
	struct slot *slots;
	struct kernel kernels[KERNELS];
	struct gt_store store;
	uint64_t bytes;	/* of all slots */
	uint64_t time;	/* launches so far */
	/* The launch under way: */
	struct slot *slot; /* NULL: it cannot be repeated */
	struct kernel *kernel;
	struct gt_writer *writer;
	uint64_t number;
	bool keeping, fails; /* to keep what it does */
};

struct gt_ptx_again *gt_ptx_again_open(uint64_t memory, struct gt_error *error)
{
	struct gt_ptx_again *again = calloc(1, sizeof *again);

	if (again)
		again->slots = calloc(SLOTS, sizeof *again->slots);
	if (!again || !again->slots) {
		free(again);
		gt_fail_memory(error, "launches");
		return NULL;
	}
	gt_store_open(&again->store, memory < MOST ? (size_t)memory : (size_t)MOST, gt_temporary_directory());
	return again;
}

/* Keeps nothing of a launch any more. */
static void forget(struct gt_ptx_again *again, struct slot *slot)
{
	for (size_t i = 0; i < slot->kept_n; i++)
		gt_store_release(&again->store, slot->kept[i].segment);
	again->bytes -= slot->bytes;
	free(slot->kept);
	free(slot->before);
	slot->kept = NULL;
	slot->before = NULL;
	slot->kept_n = slot->kept_capacity = slot->n = 0;
	slot->bytes = slot->rows = 0;
	slot->known = false;
}

void gt_ptx_again_close(struct gt_ptx_again *again)
{
	if (!again)
		return;
	for (size_t i = 0; i < SLOTS; i++) {
		forget(again, &again->slots[i]);
		free(again->slots[i].parts);
	}
	gt_store_close(&again->store);
	free(again->slots);
	free(again);
}

/* ---- what is kept ---- */

/* Forgets the launch that was used least recently, of those that are not under way. False if there is none. */
static bool make_room(struct gt_ptx_again *again)
{
	struct slot *oldest = NULL;

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &again->slots[i];
		if (slot->known && slot != again->slot && (!oldest || slot->used < oldest->used))
			oldest = slot;
	}
	if (oldest)
		forget(again, oldest);
	return oldest != NULL;
}

/* Keeps a copy of bytes; address 0: of records. False if there is no room. */
static bool keep(struct gt_ptx_again *again, uint64_t address, const unsigned char *data, size_t n)
{
	struct slot *slot = again->slot;
	struct gt_error error;

	while (again->bytes + n > MOST)
		if (!make_room(again))
			return false;
	struct kept *grown = gt_grown(slot->kept, slot->kept_n, &slot->kept_capacity, sizeof *grown);
	if (!grown)
		return false;
	slot->kept = grown;
	struct kept *one = &grown[slot->kept_n];
	*one = (struct kept){.n = n, .address = address};
	one->data = gt_store_take(&again->store, n, &one->segment, &error);
	if (!one->data)
		return false;
	memcpy(one->data, data, n);
	gt_store_put_aside(one->segment, one->data, n);
	slot->kept_n++;
	slot->bytes += n;
	again->bytes += n;
	return true;
}

/* Takes records as they are written. What cannot be kept is no error of the launch. */
static void take_records(void *context, const unsigned char *data, size_t n)
{
	struct gt_ptx_again *again = context;

	again->fails = again->fails || (n > 0 && !keep(again, 0, data, n));
}

/* ---- the contents of memory ---- */

/* All pieces of a launch's parts, one after the other. */
struct walk {
	struct gt_ptx_memory *memory;
	const struct part *part, *end;
	uint64_t at; /* in the part */
};

static struct walk walk_begin(struct gt_ptx_memory *memory, const struct slot *slot)
{
	return (struct walk){memory, slot->parts, slot->parts + slot->parts_n, 0};
}

/* The next piece: where it lies here, its bytes and its address. NULL if there is none. */
static unsigned char *walk_next(struct walk *walk, size_t *n, uint64_t *address)
{
	const struct part *part = walk->part;

	if (part == walk->end)
		return NULL;
	const uint64_t left = part->bytes - walk->at;
	*n = (size_t)(left < PIECE ? left : PIECE);
	*address = part->address + walk->at;
	walk->at += *n;
	if (walk->at >= part->bytes) {
		walk->part++;
		walk->at = 0;
	}
	return walk->memory->host + (*address - GT_PTX_GLOBAL_BASE);
}

/* Whether the allocations are there that the last launch accessed. */
static bool has_parts(const struct gt_ptx_memory *memory, const struct slot *slot)
{
	for (const struct part *part = slot->parts; part < slot->parts + slot->parts_n; part++) {
		const struct gt_ptx_allocation *one = gt_ptx_containing(memory, part->address, part->bytes);
		if (!one || one->address != part->address || one->bytes != part->bytes || one->owner != part->owner)
			return false;
	}
	return true;
}

/* The hashes of all pieces. NULL when memory is short. */
static uint64_t *hash_parts(struct gt_ptx_memory *memory, const struct slot *slot, size_t *pieces)
{
	uint64_t *hashes, address;
	struct walk walk = walk_begin(memory, slot);
	size_t n = 0;

	*pieces = 0;
	for (size_t i = 0; i < slot->parts_n; i++)
		*pieces += (size_t)((slot->parts[i].bytes + PIECE - 1) / PIECE);
	hashes = malloc((*pieces + 1) * sizeof *hashes);
	for (size_t i = 0; hashes && i < *pieces; i++) {
		const unsigned char *data = walk_next(&walk, &n, &address);
		hashes[i] = XXH3_64bits(data, n);
	}
	return hashes;
}

/* Whether memory has the contents that it had before the launch that is known. */
static bool is_as_before(struct gt_ptx_memory *memory, struct slot *slot)
{
	struct walk walk = walk_begin(memory, slot);
	uint64_t address;
	size_t n = 0;

	if (slot->as_before == memory->changes && !slot->by_host)
		return true;
	if (!has_parts(memory, slot))
		return false;
	for (size_t i = 0; i < slot->n; i++) {
		const unsigned char *data = walk_next(&walk, &n, &address);
		if (XXH3_64bits(data, n) != slot->before[i])
			return false;
	}
	slot->as_before = memory->changes;
	return true;
}

/* Keeps the pieces that differ from what they were. False if there is no room. */
static bool keep_changes(struct gt_ptx_again *again, struct gt_ptx_memory *memory)
{
	struct slot *slot = again->slot;
	struct walk walk = walk_begin(memory, slot);
	uint64_t address;
	size_t n = 0;

	slot->changes = false;
	for (size_t i = 0; i < slot->n; i++) {
		const unsigned char *data = walk_next(&walk, &n, &address);
		if (XXH3_64bits(data, n) == slot->before[i])
			continue;
		slot->changes = true;
		if (!keep(again, address, data, n))
			return false;
	}
	return true;
}

/* Notes what the launch accessed that was just executed. Returns whether that is what was noted before. */
static bool note_parts(struct slot *slot, const struct gt_ptx_memory *memory)
{
	struct part *parts = malloc((memory->n + 1) * sizeof *parts);
	size_t n = 0;
	uint64_t bytes = 0;

	slot->by_host = false;
	for (const struct gt_ptx_allocation *one = gt_ptx_live(memory->first); parts && one; one = gt_ptx_live(one->after)) {
		if (atomic_load_explicit(&one->reached, memory_order_relaxed) != memory->launch)
			continue;
		memset(&parts[n], 0, sizeof parts[n]); /* they are compared as bytes */
		parts[n].address = one->address;
		parts[n].bytes = one->bytes;
		parts[n++].owner = one->owner;
		bytes += one->bytes;
		slot->by_host |= one->kind != GT_PTX_OF_DEVICE || one->owner == GT_PTX_EVERYONE || one->call == 0;
	}
	const bool same = parts && n == slot->parts_n && memcmp(parts, slot->parts, n * sizeof *parts) == 0;
	free(slot->parts);
	slot->parts = parts;
	slot->parts_n = parts ? n : 0;
	slot->parts_bytes = parts ? bytes : UINT64_MAX;
	return same;
}

/* ---- launches ---- */

/* What two launches have in common that are the same on the same memory. */
static XXH128_hash_t key_of(const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, bool traced)
{
	const struct gt_ptx_memory *memory = machine->memory;
	const XXH128_hash_t parameters = XXH3_128bits(launch->parameters, gt_ptx_parameter_bytes(launch->kernel));
	const uint64_t numbers[] = {
		machine->serial, (uint64_t)(launch->kernel - machine->module->functions), launch->grid[0], launch->grid[1], launch->grid[2],
		launch->block[0], launch->block[1], launch->block[2], launch->cluster[0], launch->cluster[1], launch->cluster[2],
		launch->dynamic_shared, launch->sms, launch->workspace, launch->denied, launch->device, traced,
		/* Handles are never given twice: */
		memory->n_textures, XXH3_64bits(memory->textures, memory->n_textures * sizeof *memory->textures),
		parameters.low64, parameters.high64,
	};

	return XXH3_128bits(numbers, sizeof numbers);
}

/* The launches like this one; a new one takes the place of others. */
static struct slot *slot_of(struct gt_ptx_again *again, XXH128_hash_t key)
{
	struct slot *slot = &again->slots[key.low64 % SLOTS];

	if (!slot->taken || !XXH128_isEqual(slot->key, key)) {
		forget(again, slot);
		free(slot->parts);
		*slot = (struct slot){.key = key, .taken = true};
	}
	return slot;
}

/* What is known of the kernel; a new one takes the place of another. */
static struct kernel *kernel_of(struct gt_ptx_again *again, const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch)
{
	const uint64_t numbers[] = {machine->serial, (uint64_t)(launch->kernel - machine->module->functions)};
	const uint64_t key = XXH3_64bits(numbers, sizeof numbers);
	struct kernel *kernel = &again->kernels[key % KERNELS];

	if (!kernel->taken || kernel->key != key)
		*kernel = (struct kernel){.key = key, .taken = true};
	return kernel;
}

/* Whether one more launch of the kernel is to be remembered. */
static bool try_kernel(struct kernel *kernel)
{
	if (kernel->pays)
		return true;
	if (kernel->wait > 0) {
		kernel->wait--;
		return false;
	}
	kernel->tries += kernel->tries < MISSES_MOST;
	kernel->wait = kernel->tries < TRIES ? 0 : (UINT64_C(1) << kernel->tries) - 1;
	return true;
}

/* Does what the launch that is known did. */
static int repeat(struct gt_ptx_again *again, struct gt_ptx_memory *memory, struct gt_writer *writer, struct gt_ptx_ran *ran,
		  struct gt_error *error)
{
	struct slot *slot = again->slot;
	size_t rows = (size_t)slot->rows;

	slot->used = again->time;
	again->kernel->pays = true;
	again->kernel->tries = 0;
	again->kernel->wait = 0;
	*ran = slot->ran;
	memory->changes += slot->changes;
	for (size_t i = 0; i < slot->kept_n; i++) {
		const struct kept *one = &slot->kept[i];
		if (one->address) {
			memcpy(memory->host + (one->address - GT_PTX_GLOBAL_BASE), one->data, one->n);
			continue;
		}
		if (gt_writer_put(writer, one->data, one->n, rows, error) != 0)
			return -1;
		rows = 0;
	}
	return 1;
}

/* The memory is another one than that which is remembered: the next time is later. */
static void miss(struct gt_ptx_again *again, struct slot *slot)
{
	forget(again, slot);
	again->kernel->pays = false;
	slot->misses += slot->misses < MISSES_MOST;
	slot->wait = (UINT64_C(1) << slot->misses) - 1;
}

/* Whether to execute the launch takes long enough. */
static bool is_long(const struct slot *slot)
{
	return slot->instructions >= (slot->in_a_row < IN_A_ROW ? LEAST : LEAST_IN_A_ROW);
}

/* Whether to remember the launch: not the first of its kind, nor one that takes less time than to compare memory. */
static bool is_worth_it(struct slot *slot, struct kernel *kernel, const struct gt_ptx_memory *memory)
{
	if (!is_long(slot) ||
	    (slot->parts_bytes / BYTES_PER_INSTRUCTION > slot->instructions && (slot->in_a_row < IN_A_ROW || slot->by_host)))
		return false;
	if (slot->wait == 0)
		return has_parts(memory, slot) && try_kernel(kernel);
	slot->wait--;
	return false;
}

static int begin_keeping(struct gt_ptx_again *again, struct gt_ptx_memory *memory, struct gt_writer *writer, struct gt_error *error)
{
	again->slot->before = hash_parts(memory, again->slot, &again->slot->n);
	again->keeping = again->slot->before != NULL;
	again->fails = false;
	again->writer = writer;
	if (!again->keeping || !writer)
		return 0;
	again->slot->rows = gt_writer_tee(writer, take_records, again, error);
	return again->slot->rows == GT_WRITER_FAILED ? -1 : 0;
}

int gt_ptx_again_take(struct gt_ptx_again *again, struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
		      const struct gt_ptx_launch *launch, struct gt_writer *writer, struct gt_ptx_ran *ran, struct gt_error *error)
{
	again->slot = NULL;
	again->number = launch->number;
	again->keeping = false;
	again->time++;
	if (program->is_unique || launch->check == GT_PTX_MEMCHECK)
		return 0;
	again->kernel = kernel_of(again, machine, launch);
	struct slot *slot = again->slot = slot_of(again, key_of(machine, launch, writer != NULL));
	slot->in_a_row = slot->in_a_row > 0 && slot->after == machine->memory->changes ? slot->in_a_row : 0;
	if (slot->known && is_as_before(machine->memory, slot)) {
		machine->launches++;
		return repeat(again, machine->memory, writer, ran, error);
	}
	if (slot->known)
		miss(again, slot);
	int result = is_worth_it(slot, again->kernel, machine->memory) ? begin_keeping(again, machine->memory, writer, error) : 0;
	machine->memory->launch++; /* what was looked up here is not accessed by it */
	return result;
}

int gt_ptx_again_keep(struct gt_ptx_again *again, struct gt_ptx_machine *machine, const struct gt_ptx_ran *ran, struct gt_error *error)
{
	struct slot *slot = again->slot;
	uint64_t rows = 0;

	machine->memory->changes++;
	if (!slot)
		return 0;
	slot->after = machine->memory->changes;
	slot->in_a_row++;
	slot->instructions = ran ? ran->warp_instructions : 0;
	if (!again->keeping) {
		if (is_long(slot))
			note_parts(slot, machine->memory);
		return 0;
	}
	again->keeping = false;
	if (again->writer && (rows = gt_writer_tee(again->writer, NULL, NULL, error)) == GT_WRITER_FAILED)
		return -1;
	slot->rows = rows - slot->rows;
	const bool keeps = ran && !ran->out_of_bounds && !again->fails && keep_changes(again, machine->memory);
	slot->known = note_parts(slot, machine->memory) && keeps;
	if (!slot->known) {
		miss(again, slot);
		slot->wait = keeps ? slot->wait : UINT64_MAX;
		return 0;
	}
	slot->ran = *ran;
	slot->ran.like = again->number;
	slot->used = again->time;
	slot->as_before = slot->changes ? slot->as_before : slot->after;
	return 0;
}
