import type { CompletedCommand, CompletedOption } from './completion-command.js';

/** A function for `complete -F`. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const cases = commands.map((command) => {
    const words = [...command.options.flatMap(flagsOf), ...command.words].join(' ');
    return `    ${command.name}) COMPREPLY=($(compgen -W "${words}" -- "$word")) ;;\n`;
  });
  return `# bash completion of svc
_svc() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${names}" -- "$word"))
    return
  fi
  case "$previous" in
${valueCases(commands)}  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('')}  esac
}
complete -F _svc svc
`;
}

function valueCases(commands: readonly CompletedCommand[]): string {
  const byFlags = new Map<string, CompletedOption['value']>();
  for (const { options } of commands)
    for (const option of options)
      if (option.value !== undefined) byFlags.set(flagsOf(option).join('|'), option.value);
  return [...byFlags]
    .map(([flags, value]) => {
      if (value === 'file') return `    ${flags}) COMPREPLY=($(compgen -f -- "$word")); return ;;\n`;
      if (value === 'text' || value === undefined) return `    ${flags}) return ;;\n`;
      return `    ${flags}) COMPREPLY=($(compgen -W "${value.join(' ')}" -- "$word")); return ;;\n`;
    })
    .join('');
}

export function zshScript(commands: readonly CompletedCommand[]): string {
  const described = commands.map(({ name, description }) => `    '${name}:${description}'\n`).join('');
  const cases = commands.map(({ name, options, words }) => {
    const specs = options.flatMap((option) => flagsOf(option).map((flag) => zshSpec(flag, option)));
    const rest = words.length === 0 ? [] : [`'*:word:(${words.join(' ')})'`];
    return `    ${name}) _arguments ${[...specs, ...rest].join(' ')} ;;\n`;
  });
  return `#compdef svc
_svc() {
  local -a commands
  commands=(
${described}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  (( CURRENT-- ))
  case "$command" in
${cases.join('')}  esac
}
if [ "$funcstack[1]" = "_svc" ]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;
}

function zshSpec(flag: string, { name, value }: CompletedOption): string {
  if (value === undefined) return `'*${flag}'`;
  if (value === 'file') return `'*${flag}:${name}:_files'`;
  return value === 'text' ? `'*${flag}:${name}:'` : `'*${flag}:${name}:(${value.join(' ')})'`;
}

export function fishScript(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap(({ name, description, options, words }) => [
    `complete -c svc -f -n __fish_use_subcommand -a ${name} -d '${description}'`,
    ...options.map((option) => fishOption(name, option)),
    ...(words.length === 0
      ? []
      : [`complete -c svc -f -n '__fish_seen_subcommand_from ${name}' -a '${words.join(' ')}'`]),
  ]);
  return `# fish completion of svc\n${lines.join('\n')}\n`;
}

function fishOption(command: string, { name, short, value }: CompletedOption): string {
  const flags = `-l ${name}${short === undefined ? '' : ` -s ${short}`}`;
  const argument = value === undefined ? '' : value === 'file' ? ' -r -F' : ' -x';
  const choices = Array.isArray(value) ? ` -a '${value.join(' ')}'` : '';
  return `complete -c svc -n '__fish_seen_subcommand_from ${command}' ${flags}${argument}${choices}`;
}

function flagsOf({ name, short }: CompletedOption): readonly string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`];
}
