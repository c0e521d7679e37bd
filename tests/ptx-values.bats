#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Single PTX instructions whose results random kernels (random-ptx.bats) found to be wrong or missing.

load helpers

setup() {
	cd "$ROOT" || return 1
	t=$BATS_TEST_TMPDIR
}

# value INSTRUCTION...: runs them in one thread and prints %d (64 bits) in hexadecimal. %h0 to %h3 are
# registers of 16 bits, %r0 to %r3 of 32, %x0 and %x1 of 64, %p0 and %p1 predicates; cell is 8 bytes of
# global memory and shared is 8 of shared memory, both 0.
value() {
	{
		printf '.version 8.0\n.target sm_90\n.address_size 64\n.global .align 8 .b8 cell[8];\n'
		printf '.visible .entry k(.param .u64 out)\n{\n\t.reg .b64 %%o, %%d, %%x<2>;\n\t.reg .b32 %%r<4>;\n'
		printf '\t.reg .b16 %%h<4>;\n\t.reg .pred %%p<2>;\n\t.shared .align 8 .b8 shared[8];\n\tmov.b64 %%d, 0;\n'
		printf '\t%s;\n' "$@"
		printf '\tld.param.u64 %%o, [out];\n\tst.global.b64 [%%o], %%d;\n\tret;\n}\n'
	} >"$t/k.ptx"
	gtrace-ptx --dump out="$t/out" --launch 'k<<<1,1>>>(out=u64[1])' "$t/k.ptx" >/dev/null || return 1
	od -An -tx8 "$t/out" | sed 's/^ *0*\(.\)/\1/'
}

@test "cvt: NaN is 0, but from f64 and to 64 bits the upper bit alone" {
	nan32='mov.b32 %r0, 0x7fc00000' nan64='mov.b64 %x0, 0x7ff8000000000000' nan16='mov.b16 %h0, 0x7e00'
	[ "$(value "$nan32" 'cvt.rzi.s32.f32 %r1, %r0' 'cvt.u64.u32 %d, %r1')" = 0 ]
	[ "$(value "$nan32" 'cvt.rzi.s64.f32 %d, %r0')" = 8000000000000000 ]
	[ "$(value "$nan32" 'cvt.rzi.u64.f32 %d, %r0')" = 8000000000000000 ]
	[ "$(value "$nan64" 'cvt.rzi.s32.f64 %r1, %x0' 'cvt.u64.u32 %d, %r1')" = 80000000 ]
	[ "$(value "$nan64" 'cvt.rni.u64.f64 %d, %x0')" = 8000000000000000 ]
	[ "$(value "$nan16" 'cvt.rpi.sat.s64.f16 %d, %h0')" = 8000000000000000 ]
	[ "$(value "$nan16" 'cvt.rpi.s32.f16 %r1, %h0' 'cvt.u64.u32 %d, %r1')" = 0 ]
}

@test "atom.add.f32: subnormal values count as zeros in global memory, not in shared memory" {
	[ "$(value 'mov.b32 %r0, 0x00000003' 'red.global.add.f32 [cell], %r0' 'ld.global.u32 %d, [cell]')" = 0 ]
	[ "$(value 'mov.b32 %r0, 0x00000003' 'red.shared.add.f32 [shared], %r0' 'ld.shared.u32 %d, [shared]')" = 3 ]
	# The smallest normal number minus the smallest subnormal one.
	[ "$(value 'mov.b32 %r0, 0x00800000' 'mov.b32 %r1, 0x80000001' 'st.global.b32 [cell], %r0' \
		'atom.global.add.f32 %r2, [cell], %r1' 'ld.global.u32 %d, [cell]')" = 800000 ]
}

@test "brx.idx: lanes that reach one target by different indices stay together" {
	cat >"$t/switch.ptx" <<-'END'
		.version 8.0
		.target sm_90
		.address_size 64
		.visible .entry k(.param .u64 out)
		{
			.reg .b64 %o;
			.reg .b32 %t, %i;
		T: .branchtargets A, B, A, A;
			ld.param.u64 %o, [out];
			mov.u32 %t, %tid.x;
			and.b32 %i, %t, 3;
			mad.wide.u32 %o, %t, 4, %o;
			brx.idx %i, T;
		A:
			st.global.u32 [%o], 1;
			bra C;
		B:
			st.global.u32 [%o], 2;
		C:
			ret;
		}
	END
	gtrace-ptx --dump out="$t/out" --launch 'k<<<1,32>>>(out=u32[32])' "$t/switch.ptx" | gtrace-cat | grep -v '^#' | cut -f 4,7 | sort >"$t/rows"
	diff "$t/rows" <(printf '0x12\t0x22222222\n0xf\t0xdddddddd\n')
	[ "$(od -An -v -w16 -tu4 "$t/out" | tr -s ' ' | sort -u)" = " 1 2 1 1" ]
}

@test "an instruction with two results may write its own guard" {
	[ "$(value 'mov.b32 %r0, 0x3c003c00' 'setp.eq.u32 %p0|%p1, %r0, %r0' '@%p0 setp.ne.f16x2 %p0|%p1, %r0, %r0' \
		'selp.u64 %x0, 1, 0, %p0' 'selp.u64 %x1, 2, 0, %p1' 'or.b64 %d, %x0, %x1')" = 0 ]
	[ "$(value 'mov.b32 %r0, 0x3c003c00' 'setp.ne.u32 %p0|%p1, %r0, %r0' '@!%p0 setp.eq.f16x2 %p0|%p1, %r0, %r0' \
		'selp.u64 %x0, 1, 0, %p0' 'selp.u64 %x1, 2, 0, %p1' 'or.b64 %d, %x0, %x1')" = 3 ]
}

@test ".ftz of halves flushes sources and results; slct.ftz only the operand whose sign it tests" {
	[ "$(value 'mov.b16 %h0, 0x0001' 'mov.b16 %h1, 0x3c00' 'mul.ftz.f16 %h2, %h0, %h1' 'cvt.u64.u16 %d, %h2')" = 0 ]
	[ "$(value 'mov.b16 %h0, 0x0001' 'mov.b16 %h1, 0x3c00' 'mul.f16 %h2, %h0, %h1' 'cvt.u64.u16 %d, %h2')" = 1 ]
	[ "$(value 'mov.b16 %h0, 0x8401' 'mov.b16 %h1, 0x3800' 'mul.ftz.f16 %h2, %h0, %h1' 'cvt.u64.u16 %d, %h2')" = 8000 ]
	[ "$(value 'mov.b32 %r0, 0x04000001' 'mov.b32 %r2, 0' 'add.ftz.f16x2 %r1, %r0, %r2' 'cvt.u64.u32 %d, %r1')" = 4000000 ]
	[ "$(value 'mov.b32 %r0, 0x00000005' 'mov.b32 %r1, 0x00000007' 'mov.b32 %r2, 0x80000001' \
		'slct.ftz.f32.f32 %r3, %r0, %r1, %r2' 'cvt.u64.u32 %d, %r3')" = 5 ]
}

# By the formats: e2m3 has a bias of 1 (2 is 10|000), e3m2 of 3 (2 is 100|00), e2m1 of 1 (2 is 10|0), e4m3 of 7; tf32 cuts 13 bits of f32.
@test "cvt.relu to floats of 4, 6 and 8 bits and to tf32: what is negative becomes 0, the rest stays" {
	pair='mov.b32 %r0, 0xc0000000' other='mov.b32 %r1, 0x40000000'
	[ "$(value "$pair" "$other" 'cvt.rn.satfinite.relu.e2m3x2.f32 %h0, %r0, %r1' 'cvt.u64.u16 %d, %h0')" = 10 ]
	[ "$(value "$pair" "$other" 'cvt.rn.satfinite.relu.e2m3x2.f32 %h0, %r1, %r0' 'cvt.u64.u16 %d, %h0')" = 1000 ]
	[ "$(value "$pair" "$other" 'cvt.rn.satfinite.e2m3x2.f32 %h0, %r0, %r1' 'cvt.u64.u16 %d, %h0')" = 3010 ]
	[ "$(value "$pair" "$other" 'cvt.rn.satfinite.relu.e3m2x2.f32 %h0, %r0, %r1' 'cvt.u64.u16 %d, %h0')" = 10 ]
	[ "$(value "$pair" "$other" '.reg .b8 %b' 'cvt.rn.satfinite.relu.e2m1x2.f32 %b, %r0, %r1' 'cvt.u64.u8 %d, %b')" = 4 ]
	[ "$(value "$pair" "$other" 'cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %r0, %r1' 'cvt.u64.u16 %d, %h0')" = 40 ]
	[ "$(value 'mov.b32 %r0, 0xc0004000' 'cvt.rn.satfinite.relu.e4m3x2.f16x2 %h0, %r0' 'cvt.u64.u16 %d, %h0')" = 40 ]
	[ "$(value "$pair" 'cvt.rn.relu.tf32.f32 %r2, %r0' 'cvt.u64.u32 %d, %r2')" = 0 ]
	[ "$(value "$other" 'cvt.rn.relu.tf32.f32 %r2, %r1' 'cvt.u64.u32 %d, %r2')" = 40000000 ]
	[ "$(value 'mov.b32 %r0, 0x80000000' "$other" 'cvt.rn.satfinite.relu.e2m3x2.f32 %h0, %r0, %r1' 'cvt.u64.u16 %d, %h0')" = 10 ]
}

@test "halves: .NaN, .relu and comparisons of pairs" {
	[ "$(value 'mov.b16 %h0, 0x7e00' 'mov.b16 %h1, 0x3c00' 'max.NaN.f16 %h2, %h0, %h1' 'cvt.u64.u16 %d, %h2')" = 7fff ]
	[ "$(value 'mov.b16 %h0, 0x7e00' 'mov.b16 %h1, 0x3c00' 'max.f16 %h2, %h0, %h1' 'cvt.u64.u16 %d, %h2')" = 3c00 ]
	[ "$(value 'mov.b32 %r0, 0x3f80bf80' 'mov.b32 %r1, 0x7fc03f80' 'min.NaN.bf16x2 %r2, %r0, %r1' 'cvt.u64.u32 %d, %r2')" = 7fffbf80 ]
	[ "$(value 'mov.b16 %h0, 0xbc00' 'mov.b16 %h1, 0x3c00' 'fma.rn.relu.f16 %h2, %h0, %h1, %h0' 'cvt.u64.u16 %d, %h2')" = 0 ]
	[ "$(value 'mov.b32 %r0, 0xbf800000' 'mov.b32 %r1, 0x40000000' 'cvt.rn.relu.f16x2.f32 %r2, %r0, %r1' 'cvt.u64.u32 %d, %r2')" = 4000 ]
	[ "$(value 'mov.b32 %r0, 0x3c004000' 'mov.b32 %r1, 0x3c003c00' 'setp.eq.f16x2 %p0|%p1, %r0, %r1' \
		'selp.u64 %x0, 1, 0, %p0' 'selp.u64 %x1, 2, 0, %p1' 'or.b64 %d, %x0, %x1')" = 2 ]
	[ "$(value 'mov.b32 %r0, 0x3c004000' 'mov.b32 %r1, 0x3c003c00' 'setp.ne.u32 %p0, %r0, %r0' 'setp.gt.or.f16x2 %p0|%p1, %r0, %r1, %p0' \
		'selp.u64 %x0, 1, 0, %p0' 'selp.u64 %x1, 2, 0, %p1' 'or.b64 %d, %x0, %x1')" = 1 ]
	[ "$(value 'mov.b32 %r0, 0x3c004000' 'mov.b32 %r1, 0x3c003c00' 'set.eq.f16x2.f16x2 %r2, %r0, %r1' 'cvt.u64.u32 %d, %r2')" = 3c000000 ]
	[ "$(value 'mov.b32 %r0, 0x3c004000' 'mov.b32 %r1, 0x3c003c00' 'set.gt.u32.f16x2 %r2, %r0, %r1' 'cvt.u64.u32 %d, %r2')" = ffff ]
	[ "$(value 'mov.b16 %h0, 0x3c00' 'set.le.u16.f16 %h1, %h0, %h0' 'cvt.u64.u16 %d, %h1')" = ffff ]
	[ "$(value 'mov.b16 %h0, 0x3f80' 'set.leu.bf16.bf16 %h1, %h0, %h0' 'cvt.u64.u16 %d, %h1')" = 3f80 ]
}

# 1 / 3 is 0x3fd5555555555555; rcp.approx.ftz.f64 gives its upper word alone. ptxas takes .ftz of a rounded one, which is rounded.
@test "rcp.rn.ftz.f64 is rounded, as rcp.rn.f64 is" {
	[ "$(value 'mov.b64 %x0, 0x4008000000000000' 'rcp.rn.ftz.f64 %d, %x0')" = 3fd5555555555555 ]
	[ "$(value 'mov.b64 %x0, 0x4008000000000000' 'rcp.approx.ftz.f64 %d, %x0')" = 3fd5555500000000 ]
}

# What 20 lanes find is noted while the block may spin: 320 bytes, for which 256 were kept.
@test "atom.b128 by more than half of a warp that has asked for a phase which is not over" {
	cat >"$t/wide.ptx" <<-'END'
		.version 8.8
		.target sm_90
		.address_size 64
		.visible .entry k(.param .u64 out)
		{
			.reg .b64 %o, %x, %y;
			.reg .b32 %t;
			.reg .pred %p;
			.reg .b128 %q<2>;
			.shared .align 8 .b8 bar[8];
			ld.param.u64 %o, [out];
			mov.u32 %t, %tid.x;
			mbarrier.init.shared.b64 [bar], 32;
			mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;
			bar.sync 0;
			cvt.u64.u32 %x, %t;
			mov.b128 %q0, {%x, %x};
			atom.global.exch.b128 %q1, [%o], %q0;
			mov.b128 {%x, %y}, %q1;
			mad.wide.u32 %o, %t, 8, %o;
			st.global.u64 [%o+16], %y;
			ret;
		}
	END
	gtrace-ptx --dump out="$t/out" --launch 'k<<<1,20>>>(out=u64[22])' "$t/wide.ptx" >/dev/null
	[ "$(od -An -v -w8 -tu8 "$t/out" | tr -d ' ' | tail -n +4 | paste -sd ,)" = "$(seq -s , 0 18)" ]
}
