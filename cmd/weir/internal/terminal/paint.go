package terminal

// The styles of [Paint].
const (
	Bold   = "1"
	Dim    = "2"
	Yellow = "33"
)

// Paint puts a text into a style, if there are colours.
func Paint(style, text string, color bool) string {
	if !color || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}
