/** One instruction, with its continued lines joined and the build's own arguments put in. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface BuildStage {
  readonly name: string | undefined;
  /** With its tag. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

/** Reads a Dockerfile as far as ours goes: no here-documents, no escape directives. Throws on lines that are no instruction. */
export function parseDockerfile(text: string): readonly BuildStage[] {
  const stages: { name: string | undefined; base: string; instructions: Instruction[] }[] = [];
  const defaults = new Map<string, string>();
  for (const line of joinedLines(text)) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`Not an instruction: ${line}`);
    const current = stages.at(-1);
    if (name === 'FROM') {
      const [, image = '', , stage] = /^(?:--platform=\S+ )?(\S+)( AS (\S+))?$/.exec(rest) ?? [];
      stages.push({ name: stage, base: filled(image, defaults), instructions: [] });
    } else if (current !== undefined) current.instructions.push({ name, text: rest });
    else if (name === 'ARG') defaults.set(rest.split('=')[0] ?? '', rest.split('=')[1] ?? '');
    else throw new Error(`${name} stands before the first FROM.`);
  }
  return stages;
}

function filled(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(/\$\{?(\w+)\}?/g, (whole, name: string) => values.get(name) ?? whole);
}

function joinedLines(text: string): readonly string[] {
  const joined = text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '');
  return joined.split('\n').filter((line) => line.trim() !== '');
}
