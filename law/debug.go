package law

import (
	"os"
	"strconv"
)

var debugEbb = os.Getenv("EBB") != ""
var noEbb = os.Getenv("NOEBB") != ""

func tune(name string, def float64) float64 {
	if s := os.Getenv("T_" + name); s != "" {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		return v
	}
	return def
}

var (
	tHot      = tune("hot", 1.7)
	tLat      = tune("lat", 24)
	tAbsorb   = tune("absorb", 1) // 0 none 1 ebb 2 all
	tDeep     = tune("deep", 2)   // ebbs that go deeper freely
	tKnown    = tune("known", 0)
	tPressed  = tune("pressed", 0.15)
	tCoin     = tune("coin", 6)
	tCoinFrom = tune("coinfrom", 3)
	tDrop     = tune("drop", -1)
	tNeed     = tune("need", 0)
	tConv     = tune("conv", 3)
	tDip      = tune("dip", 0.2)
	tHush     = tune("hush", 0.02)
	tDeepR    = tune("deepr", 1.3)
)
var tListen = tune("listen", 1)
var tEbb = tune("ebb", 1)
var tFree = tune("free", 1.3)
var tFirst = tune("first", 0)
var tSoj = tune("soj", 2)
var tSojX = tune("sojx", 0.5)
var tSojW = tune("sojw", 0.25)
var tSojS = tune("sojs", 1)
