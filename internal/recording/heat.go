package recording

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// A Column of a heat map counts the work that succeeded in some seconds by its latency. In JSON it
// is a row of numbers: the time, then an index and a count for each cell.
type Column struct {
	At    int64 // its end, in milliseconds of Unix time
	Cells []Cell
}

// A Cell counts the latencies up to 2^(Index/2) seconds and above the bound of the cell before.
type Cell struct {
	Index int16
	Count uint32
}

// MostCells bounds the cells of a column. All durations together need no more cells.
const MostCells = 128

// MarshalJSON implements [encoding/json.Marshaler].
func (c Column) MarshalJSON() ([]byte, error) {
	out := strconv.AppendInt([]byte{'['}, c.At, 10)
	for _, cell := range c.Cells {
		out = strconv.AppendInt(append(out, ','), int64(cell.Index), 10)
		out = strconv.AppendUint(append(out, ','), uint64(cell.Count), 10)
	}
	return append(out, ']'), nil
}

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (c *Column) UnmarshalJSON(text []byte) error {
	var row []int64
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row)%2 == 0 || len(row) > 1+2*MostCells {
		return fmt.Errorf("a column has %d numbers: want an odd number, %d at most", len(row), 1+2*MostCells)
	}
	*c = Column{At: row[0]}
	for i := 1; i < len(row); i += 2 {
		if index, count := row[i], row[i+1]; index < -MostCells || index > MostCells || count < 0 || count > 1<<32-1 {
			return fmt.Errorf("a column has %d at %d: want a count at -%d to %d", count, index, MostCells, MostCells)
		}
		c.Cells = append(c.Cells, Cell{int16(row[i]), uint32(row[i+1])})
	}
	return nil
}
