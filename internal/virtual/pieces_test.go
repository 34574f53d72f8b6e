package virtual

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// After any calls, the pieces are those of a plain list, and take no more room than four
// times the most pieces at once.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var pieces Pieces
		var list []Piece
		now, most := int64(0), 0
		for range 500 {
			now += r.Int64N(3)
			switch n := len(list); {
			case n == 0 || r.IntN(5) < 2:
				weight := 1 + r.Int32N(2)
				pieces.Push(now, weight)
				list = append(list, Piece{now, weight, weight})
				most = max(most, len(list))
			case r.IntN(2) == 0:
				pieces.Remove(pieces.Oldest())
				list = list[1:]
			default:
				wanted := list[r.IntN(n)]
				found := pieces.find(wanted.Since, wanted.Weight)
				if found == nil || *found != wanted {
					t.Fatalf("found %v, want %v", found, wanted)
				}
				pieces.Remove(found)
				list = slices.Delete(list, slices.Index(list, wanted), slices.Index(list, wanted)+1)
			}
			if pieces.Len() != len(list) || len(list) > 0 && *pieces.Oldest() != list[0] ||
				len(list) == 0 && pieces.Oldest() != nil {
				t.Fatalf("%d Pieces, want %v", pieces.Len(), list)
			}
			if pieces.find(now+1, 1) != nil {
				t.Fatal("found what is not there")
			}
		}
		if cap(pieces.list) > max(16, 4*most) {
			t.Fatalf("room for %d Pieces, of which there were %d", cap(pieces.list), most)
		}
	}
}

// Of Pieces with the same start, the one of the wanted weight is found, or another.
func TestPiecesOfOneAge(t *testing.T) {
	var pieces Pieces
	for weight := range int32(3) {
		pieces.Push(7, weight+1)
	}
	for _, weight := range []int32{2, 3, 1} {
		if p := pieces.find(7, weight); p.Weight != weight {
			t.Errorf("found weight %d, want %d", p.Weight, weight)
		}
	}
	if p := pieces.find(7, 9); p == nil || p.Weight != 1 {
		t.Errorf("found %v, want the first", p)
	}
}
