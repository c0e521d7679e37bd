/* SPDX-License-Identifier: MIT */
#include "report/page/page.h"

/* Light or dark as the reader's system is, with a contrast of 7:1 or more for text; the colours of series are those of Okabe
 * and Ito, lighter on dark. Wide tables scroll by themselves, so that the page does not. On paper, all is open and light. */
#define LIGHT \
	"--ink:#1a1a1a;--paper:#fff;--soft:#444;--line:#ddd;--box:#f3f3f3;--link:#00518a;--mark:#8f3a00;" \
	"--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#cc79a7;--c4:#e69f00;--c5:#56b4e9;--c6:#8c6d31;--c7:#7f7f7f"
const char gt_page_style[] =
	":root{color-scheme:light dark;" LIGHT "}"
	"@media(prefers-color-scheme:dark){:root{--ink:#e8e8e8;--paper:#16181b;--soft:#c0c0c0;--line:#3a3f45;--box:#22262b;--link:#7cc4ff;--mark:#ffa766;"
	"--c0:#4aa3df;--c1:#ff8c42;--c2:#2fc79b;--c3:#e6a3c8;--c4:#f5bd3d;--c5:#9bd7ff;--c6:#c9a86a;--c7:#a8a8a8}}"
	"body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:64rem;padding:0 1rem 3rem}"
	"h1{font-size:1.6rem;margin:1.5rem 0 .5rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem;border-bottom:2px solid var(--c0)}"
	"h3{font-size:1.05rem;margin:1.5rem 0 .5rem}h1,h2,h3,li,summary,dd{overflow-wrap:anywhere}"
	"a{color:var(--link)}nav ul{padding-left:1.2rem;columns:18rem;column-gap:2rem}nav li{break-inside:avoid}"
	"pre{background:var(--box);padding:.75rem;white-space:pre-wrap;overflow-wrap:anywhere}"
	"dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1rem;margin:.5rem 0}dt{color:var(--soft)}dd{margin:0}"
	".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0 0 1rem;width:480px;max-width:100%}"
	"svg{width:100%;height:auto;border:1px solid var(--line);font-size:12px}svg text{fill:var(--ink)}"
	".grid{stroke:var(--line)}.axis{stroke:var(--soft)}"
	".c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}.c5{fill:var(--c5)}.c6{fill:var(--c6)}.c7{fill:var(--c7)}"
	"rect:hover,circle:hover{opacity:.7}figcaption{font-size:.9rem;color:var(--soft)}"
	".scroll{overflow-x:auto}table{border-collapse:collapse;margin:.5rem 0 1rem}"
	"caption{text-align:left;color:var(--soft);font-size:.9rem;padding-bottom:.25rem}"
	"th,td{text-align:left;vertical-align:top;padding:.15rem .75rem .15rem 0;border-bottom:1px solid var(--line);font-weight:400}"
	"tbody th{min-width:9.5rem;overflow-wrap:anywhere}.sort tbody th{min-width:0;overflow-wrap:break-word}td.name{overflow-wrap:anywhere;min-width:7rem}thead th{white-space:nowrap;font-weight:600;border-bottom:2px solid var(--soft)}th.stage{font-weight:600;padding-top:.75rem}"
	"th.number,td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:.75rem}"
	"th button{font:inherit;color:inherit;background:none;border:0;padding:0;cursor:pointer}th[aria-sort=descending] button::after{content:\" \\25be\"}"
	"th[aria-sort=ascending] button::after{content:\" \\25b4\"}td.assumed{color:var(--mark);font-weight:600}"
	"summary{cursor:pointer;font-weight:600}footer{margin-top:3rem;color:var(--soft);font-size:.9rem}"
	"@media print{:root{" LIGHT "}body{max-width:none;padding:0;font-size:10pt}nav{display:none}figure,tr{break-inside:avoid}"
	"h2,h3,p{break-after:avoid}p{break-inside:avoid}.scroll{overflow:visible}table{font-size:8pt}td.name{min-width:6rem}.pictures figure{width:47%}thead th,th.number{white-space:normal}}";

/* The headings of tables of class "sort" become buttons that sort by their column. Without a script nothing is missing. */
const char gt_page_script[] =
	"for(const table of document.querySelectorAll('table.sort')){"
	"const heads=[...table.tHead.rows[0].cells];"
	"const value=(row,i)=>{const text=row.cells[i].textContent.replace(/,/g,'');"
	"const number=/^0x[0-9a-f]+$/.test(text)?parseInt(text,16):parseFloat(text);return isNaN(number)?text:number};"
	"heads.forEach((head,i)=>{const button=document.createElement('button');button.textContent=head.textContent;"
	"head.replaceChildren(button);button.addEventListener('click',()=>{"
	"const up=head.getAttribute('aria-sort')==='descending';"
	"heads.forEach(other=>other.removeAttribute('aria-sort'));head.setAttribute('aria-sort',up?'ascending':'descending');"
	"const order=(a,b)=>typeof a===typeof b?(a<b?-1:a>b?1:0):typeof a==='number'?1:-1;"
	"const body=table.tBodies[0];body.append(...[...body.rows].sort((a,b)=>(up?1:-1)*order(value(a,i),value(b,i))))})})}"
	"addEventListener('beforeprint',()=>{for(const part of document.querySelectorAll('details'))part.open=true});";
