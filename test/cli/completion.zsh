# Types each line, then Tab and Enter, in a real zsh with the completion loaded; programs print the words they got.
# usage: zsh -f completion.zsh SCRIPT FOLDER LINE...
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell "PS1=; unsetopt prompt_sp prompt_cr; autoload -U compinit; compinit -u -D"
zpty -w shell "spillway() { print -r -- \"got <\$*>\" }; npx() { print -r -- \"got <npx \$*>\" }"
zpty -w shell "source ${(q)1}; cd ${(q)2}"
for line in $@[3,-1]; zpty -w -n shell "$line"$'\t\n'
zpty -w shell "print -r -- EN''D"
while zpty -r shell text; do
  print -rn -- $text
  [[ $text == *END* ]] && break
done
