"""How the page looks: on a desk, a telephone and paper, in light and dark."""

from __future__ import annotations

from pooler.report.palette import stylesheet

WIDE, NARROW = 720.0, 350.0
"""Widths that every chart is drawn at; the page shows the one that its window has room for."""

_LAYOUT = """\
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);line-height:1.55;font-size:16px;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"Hiragino Sans",
"Yu Gothic UI","Noto Sans CJK JP","Noto Sans JP",Meiryo,IPAGothic,sans-serif}
header,main,footer{max-width:776px;margin:0 auto;padding:0 28px}
header{padding-top:28px}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem;overflow-wrap:anywhere}
h2{font-size:1.4rem;line-height:1.25;margin:3rem 0 .75rem;padding-top:.75rem;
border-top:1px solid var(--rule);overflow-wrap:anywhere}
h3{font-size:1.1rem;line-height:1.3;margin:0 0 .25rem;overflow-wrap:anywhere}
p{margin:.5rem 0;overflow-wrap:anywhere}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-9999px;top:0;background:var(--page);padding:.5rem 1rem}
.skip:focus{left:0}
nav{background:var(--panel);border-radius:8px;padding:.9rem 1.2rem;margin:1.5rem 0}
nav h2{font-size:1rem;margin:0;padding:0;border:0}
nav ol{margin:.3rem 0 0;padding-left:1.5rem}
nav ul{margin:0;padding-left:1.1rem;font-size:.92rem}
nav li{padding:.1rem 0;overflow-wrap:anywhere}
figure{margin:1.75rem 0}
figcaption{margin-bottom:.75rem}
.how,.command,footer{color:var(--soft)}
.how,.command{font-size:.94rem}
.drawing svg{display:block;max-width:100%;height:auto;margin-bottom:.5rem;overflow:visible}
.drawing svg.grown{max-width:none}
.drawing.grown{overflow-x:auto}
.narrow{display:none}
code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;
font-size:.9em;background:var(--panel);color:var(--text);padding:.1em .35em;border-radius:4px;
overflow-wrap:anywhere;white-space:pre-wrap}
details{margin:.5rem 0}
summary{cursor:pointer;color:var(--link);padding:.3rem 0}
.scroll{overflow-x:auto;border:1px solid var(--rule);
border-radius:6px}
details .scroll{max-height:32rem;overflow-y:auto}
table{border-collapse:collapse;font-size:.88rem;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.4rem .7rem;color:var(--soft)}
th,td{padding:.3rem .7rem;text-align:left;vertical-align:top;border-top:1px solid var(--rule)}
thead th{position:sticky;top:0;background:var(--panel);border-top:0;white-space:nowrap}
tbody th{font-weight:600;max-width:26rem;overflow-wrap:break-word}
td{overflow-wrap:anywhere}
td:not(.number){min-width:9rem}
.number{text-align:right;white-space:nowrap}
footer{margin-top:3rem;padding-bottom:2rem;font-size:.9rem}
footer p{border-top:1px solid var(--rule);padding-top:.75rem}
@media screen and (max-width:640px){
body{font-size:15px}
header,main,footer{padding-left:16px;padding-right:16px}
h1{font-size:1.5rem}
h2{font-size:1.25rem}
.wide{display:none}
.narrow{display:block}
.narrow svg{width:100%;max-width:440px}
.narrow svg.grown{width:auto}
summary{padding:.6rem 0}
}
@media print{
@page{margin:16mm}
body{font-size:10.5pt}
header,main,footer{max-width:none;padding-left:0;padding-right:0}
.skip{display:none}
h2,h3,figcaption,caption{break-after:avoid}
details,.command{break-before:avoid}
.drawing svg,tr,p,figcaption{break-inside:avoid}
details .scroll{max-height:none}
.scroll{overflow:visible;border:0}
.drawing.grown{overflow:visible}
.drawing svg.grown{max-width:100%}
thead th{position:static;white-space:normal}
thead{display:table-header-group}
details:not([open])>summary{color:var(--soft)}
a{color:inherit}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""


def page_style() -> str:
    """Return the whole stylesheet of the page.

    Examples
    --------
    >>> "prefers-color-scheme:dark" in page_style(), "<" in page_style()
    (True, False)
    """
    return f"{stylesheet()}{_LAYOUT}"
