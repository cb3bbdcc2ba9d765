import { secrets } from '../../user/secrets/secrets.ts'

/** Shorter secrets may be words of our own sentences; what services say is searched for those, too. */
const shortest = 8

/** Removes secrets of the process from all that it prints. */
export function guardOutput(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  stream.write = ((text: unknown, ...rest: unknown[]) =>
    write(typeof text === 'string' ? clean(text) : text, ...rest)) as typeof stream.write
}

function clean(text: string): string {
  const whole = secrets.redacted(text, shortest)
  // Only a line that is encoded too deeply is left out.
  return (
    whole ??
    text
      .split('\n')
      .map((line) => secrets.without(line, shortest))
      .join('\n')
  )
}
