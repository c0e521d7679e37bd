/* SPDX-License-Identifier: MIT */
/* Executes kernels of a PTX module on this processor, warp by warp, and gives every access they make to a sink. One
 * machine holds the module's variables and the programs of its kernels. launch/run.h runs a launch. */
#ifndef GT_PTX_MACHINE_H
#define GT_PTX_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "cuda/ptx/exec/memory.h"
#include "cuda/ptx/text/module.h"
#include "stream/kernel.h"
#include "stream/op.h"
#include "stream/rows.h"
#include "stream/program.h"

/* Warnings about parts of a PTX text that the machine ignores because they cannot change a result, once for each name. */

#define GT_PTX_NOTES 64 /* distinct names, at most */
#define GT_PTX_NOTE_TEXT 256

struct gt_ptx_notes {
	void (*say)(void *context, const char *text);
	void *context;
	const char *said[GT_PTX_NOTES];
	size_t n;
	bool quiet; /* no warnings of what kernels do */
	uint64_t clocks[GT_PTX_NOTES]; /* kernels that were warned of, by hashes of their names */
	size_t n_clocks;
	/* Faults with GT_PTX_MEMCHECK: where they are reported, NULL: nowhere; instructions whose faults were passed over, and their
	 * accesses by threads; launches that ended at a fault, and the last one's. */
	void (*fault)(void *context, const char *text);
	uint64_t faults, accesses, ended;
	char last[512];
};

/* Reports a name, which must have static lifetime, unless it was reported before: "PTX line LINE: NAME is ignored: WHY". NULL
 * notes: no report. */
void gt_ptx_note_ignored(struct gt_ptx_notes *notes, unsigned line, const char *name, const char *why);

/* The same of what is reported as `text`. */
void gt_ptx_note_text(struct gt_ptx_notes *notes, const char *name, const char *text);

/* Warns once of a kernel that reads a clock. */
void gt_ptx_note_clock(struct gt_ptx_notes *notes, const char *kernel, const char *clock);

/* Counts a launch that ended at a fault, and reports it unless the one before ended at the same. */
void gt_ptx_note_end(struct gt_ptx_notes *notes, const char *text);

#define GT_PTX_FAULTS_TEXT 192
/* "memcheck: N instructions at fault ..."; NULL if there were no faults. */
const char *gt_ptx_notes_sum(const struct gt_ptx_notes *notes, char text[GT_PTX_FAULTS_TEXT]);

/* ---- the machine ---- */

struct gt_ptx_program;
struct gt_ptx_launched;
struct gt_ptx_team;
struct gt_writer;

/* A variable of the module in device memory; address 0: it is not there. */
struct gt_ptx_placed {
	uint64_t address;
};

/* What a kernel needs of an SM; computed when first asked for (launch/run.c). */
struct gt_ptx_figures {
	bool knows_shared, knows_registers;
	uint64_t static_shared;
	uint32_t registers; /* estimated */
};

struct gt_ptx_machine {
	const struct gt_ptx_module *module;
	struct gt_ptx_memory *memory;
	char *name;
	struct gt_ptx_placed *variables; /* by the module's variables */
	struct gt_ptx_program *programs;
	struct gt_ptx_figures *figures; /* by the module's functions */
	uint32_t full_registers; /* of a thread when the GPU is full of threads; 0: as the .target says */
	unsigned capability;	 /* the GPU's, such as 80; 0: none is known */
	uint64_t serial; /* no other machine of this process has or had it */
	uint64_t launches;
	struct gt_ptx_core *spare; /* blocks that are done, whose memory later ones of the same shape take; by `next` */
	void (*free_spare)(struct gt_ptx_machine *machine); /* all of them */
	struct gt_ptx_notes *notes; /* NULL: none are taken */
};

/* Allocates and initialises the variables of the module. The module and the memory stay the caller's and must outlive
 * the machine. NULL on error. */
struct gt_ptx_machine *gt_ptx_machine_open(const struct gt_ptx_module *module, struct gt_ptx_memory *memory,
					   const char *name, struct gt_error *error);
void gt_ptx_machine_close(struct gt_ptx_machine *machine);

/* Sets where it notes what it ignores; the notes stay the caller's. */
void gt_ptx_machine_notes(struct gt_ptx_machine *machine, struct gt_ptx_notes *notes);

/* Before anything is run, what it takes from the GPU. The compute capability decides how tensor cores sum; 0, as it is opened: as an
 * H100. The registers that a thread has when an SM is full of threads, which estimates of registers keep below; 0, as it is opened: as the
 * module's .target says. */
void gt_ptx_machine_gpu(struct gt_ptx_machine *machine, unsigned capability, uint32_t full_registers);

/* The memory it was opened with. */
struct gt_ptx_memory *gt_ptx_machine_memory(const struct gt_ptx_machine *machine);

/* The device address and size of a module variable (.global, .const). -1 if there is none. */
int gt_ptx_symbol(const struct gt_ptx_machine *machine, const char *name, uint64_t *address, uint64_t *bytes,
		  struct gt_error *error);

/* Bytes of the kernel's parameters, and where each begins. */
size_t gt_ptx_parameter_bytes(const struct gt_ptx_function *kernel);
size_t gt_ptx_parameter_offset(const struct gt_ptx_function *kernel, size_t i);

/* Accesses outside of every allocation: done in the granules that hardware maps around allocations, and told of, once an
 * instruction; told of so and passed over; or faults. The last passes over every access that is at fault, in whatever space, and
 * reports each instruction with its first; a launch with another fault ends. */
enum gt_ptx_check { GT_PTX_CHECK_PAGE, GT_PTX_CHECK_LIST, GT_PTX_CHECK_FAULT, GT_PTX_CHECKS, GT_PTX_MEMCHECK = GT_PTX_CHECKS };
extern const char *const gt_ptx_check_names[GT_PTX_CHECKS];

/* Told as a launch runs of blocks that have ended, and their traced accesses; by one thread at a time. */
struct gt_ptx_told {
	void (*ended)(void *context, uint64_t blocks, uint64_t accesses);
	void *context;
};

struct gt_ptx_launch {
	const struct gt_ptx_function *kernel;
	uint32_t grid[3], block[3];
	uint32_t cluster[3];		 /* blocks that run together; all 0: the kernel says, or there are none */
	uint32_t dynamic_shared;	 /* bytes */
	const unsigned char *parameters; /* gt_ptx_parameter_bytes of them */
	uint64_t max_instructions;	 /* warp instructions of the launch; 0: no limit */
	uint32_t sms;			 /* %smid = block mod sms, %nsmid */
	uint64_t workspace;		 /* %envreg1 (upper half) and %envreg2: what blocks that wait for each other share; 0: none */
	struct gt_preferences prefers;	 /* of the caches: for the kernel record */
	uint32_t denied;		 /* bit d: it has no access to the memory of device d */
	enum gt_ptx_check check;
	FILE *printed, *asserted;	 /* where printf's and assert's text goes; NULL: nowhere */

	/* Launches by kernels (launch/nested.h). */
	uint64_t number, parent;	  /* of this launch, and of the one that made it; 0: the host did */
	unsigned depth;			  /* 0: the host launched it */
	struct gt_ptx_launched *launched; /* by it; NULL: its launches are refused */
	uint32_t device, devices; /* which one it runs on, of how many; the first is for the kernel record too */
	/* What kernels ask about the device: numbers of cudaDeviceAttr and cudaLimit. They return 0, or a code. NULL: refused. */
	int (*attribute)(unsigned number, uint64_t *value), (*limit)(unsigned number, uint64_t *value);
	/* Launches of graphs by kernels. */
	uint64_t graph; /* %current_graph_exec: the executable graph whose node it is; 0: none */
	int (*may_launch)(uint64_t graph, uint64_t stream); /* returns 0, or a code */

	/* What is traced. NULL sink: nothing is. */
	struct gt_sink *sink;
	uint32_t traced_spaces;	 /* bit (1 << enum gt_space) */
	uint64_t first_block, traced_blocks; /* blocks whose accesses go to the sink */
	bool notes_work;	 /* rows have the column work */
	struct gt_idle_blocks *idle; /* gets the traced blocks that have no rows but of shared memory; may be NULL */
	uint64_t id;		 /* of the kernel in the stream */
	bool skip_untraced;	 /* blocks that are not traced are not executed either */
	uint64_t memory;	 /* bytes of memory for accesses that wait for those of earlier blocks; more go into a file */
	uint32_t *ended;	 /* bit w: warp w of the block whose accesses come makes no more of them; may be NULL */
	struct gt_ptx_hold *hold; /* takes the accesses of blocks that run alone in the place of the sink; may be NULL */
	struct gt_writer *writer; /* gets the accesses in order that the hold takes; may be NULL */
	const struct gt_ptx_told *told; /* NULL: nobody is told */
	struct gt_ptx_team *team; /* threads that run the blocks (launch/team.h); NULL: the caller's runs them */
};

/* What a launch did, beside its accesses. */
struct gt_ptx_ran {
	uint64_t warp_instructions, accesses;
	uint64_t like; /* the number of an earlier launch that was the same, in whose likeness it was done; 0: it was executed */
	uint64_t polls; /* turns that warps gave away, since what they had read again had not changed: exec/block.c */
	const char *clock; /* a special register that counts time and was read; NULL: none was */
	bool fault; /* of the kernel's own, by which the launch failed */
	bool assertion_failed; /* which is such a fault */
	bool runs_away; /* by such a fault: it waits, and no block of it does what it waits for */
	bool out_of_bounds; /* outside of every allocation, and went on: exec/machine.h */
};

/* Executes a launch to its end; its program is that of its kernel (decode/program.h). Accesses come block by block,
 * and within a block as its warps interleave; `an` counts the traced accesses of a warp; pc is the PTX line. Adds to
 * *ran. On a fault returns -1 with kernel, PTX line, block, thread, address and nearest allocation in the error. */
int gt_ptx_execute(struct gt_ptx_machine *machine, const struct gt_ptx_program *program,
		   const struct gt_ptx_launch *launch, struct gt_ptx_ran *ran, struct gt_error *error);

/* ---- accesses out of bounds ---- */

/* Accesses outside of every allocation, by --check; all that are at fault, with --memcheck. */

struct gt_ptx_warp;
struct gt_ptx_op;

/* After a fault: with GT_PTX_MEMCHECK reports it unless *told, which is set, and takes it back; false: it stays one. */
bool gt_ptx_go_on(struct gt_ptx_core *core, bool *told);
/* The same after a fault of a call that can be left out: whether it is. */
bool gt_ptx_leave_out(struct gt_ptx_warp *warp, const struct gt_ptx_op *op);

/* Reports the instructions with such accesses in a launch, each once, and resets the counts. */
void gt_ptx_report_out_of_bounds(struct gt_ptx_machine *machine, const struct gt_ptx_program *program, enum gt_ptx_check check);

/* Counts of a program's accesses, in their order. Initially zero. */
struct gt_ptx_out_of_bounds {
	struct gt_ptx_out_of_bounds_count {
		uint64_t n, address; /* the first one's address and line */
		uint32_t line;
	} *counts;
	size_t n;
};

/* Takes the counts of a program, which are then 0. Returns 0, or -1 when memory is short. */
int gt_ptx_out_of_bounds_take(struct gt_ptx_out_of_bounds *outside, const struct gt_ptx_program *program, size_t n_functions, struct gt_error *error);
/* Adds them to those of another copy of the program, whose accesses come before these. */
void gt_ptx_out_of_bounds_add(const struct gt_ptx_out_of_bounds *outside, const struct gt_ptx_program *program, size_t n_functions);

/* With GT_PTX_MEMCHECK, after a launch that failed: whether it did so by a fault of the kernel, which is then reported. */
bool gt_ptx_ends_at_fault(const struct gt_ptx_machine *machine, const struct gt_ptx_launch *launch, const struct gt_ptx_ran *ran,
			  const struct gt_error *error);

#endif
