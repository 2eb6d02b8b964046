cat > /tmp/odd_arg.py <<'E'
import time,traceback
from awhile.cli.arguments import Arguments
cases={
"req no prop":({"required":["b"]},["a=1"]),
"req int":({"required":5},["a=1"]),
"enum int":({"properties":{"a":{"enum":5}}},["a=1"]),
"anyOf int":({"properties":{"a":{"anyOf":5}}},["a=1"]),
"allOf dict":({"properties":{"a":{"allOf":{"x":1}}}},["a=1"]),
"props list":({"properties":[1]},["a=1"]),
"defs int":({"$defs":5,"properties":{"a":{"type":"integer"}}},["a=1"]),
"wide":({"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]*20}}},["a=1"]),
"nan":({"properties":{"a":{"type":"number"}}},["a:=NaN"]),
"deep":({"properties":{"a":{"type":"array"}}},["a="+"["*100000]),
"surr":({"properties":{"a":{"type":"string"}}},['a:="\\ud800"']),
}
for n,(s,w) in cases.items():
    t=time.time()
    try: r=Arguments("t",s).read(w)
    except BaseException as e: r=type(e).__name__+": "+str(e)[:150]
    print(n,r,round(time.time()-t,2))
    try: Arguments("t",s).usage()
    except BaseException as e: print("   usage",type(e).__name__,e)
