# Completion of weir for fish:
#
#   weir completion fish >~/.config/fish/completions/weir.fish
function __weir_complete
	set -l words (commandline -opc) (commandline -ct)
	for line in (command $words[1] complete -- $words[2..] 2>/dev/null)
		if test "$line" = :files
			__fish_complete_path (string replace -r '^--[^=]*=' '' -- (commandline -ct))
		else
			echo $line
		end
	end
end
complete -c weir -f -a '(__weir_complete)'
