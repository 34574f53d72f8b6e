#compdef weir
# Completion of weir for zsh: put this into ~/.zshrc, below compinit:
#
#   source <(weir completion zsh)
_weir() {
	local line files=
	local -a candidates
	for line in "${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		:files) files=yes ;;
		?*) candidates+=("${${line//:/\\:}/$'\t'/:}") ;;
		esac
	done
	(($#candidates)) && _describe weir candidates
	[[ -n $files ]] && { compset -P '--*='; _files }
}
compdef _weir weir
