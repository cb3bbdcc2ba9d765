import { type ParseArgsConfig, parseArgs } from 'node:util'

/**
 * What the words of a command ask for. `--help` prints the usage and ends with 0; an unknown option prints what is
 * wrong and the usage, and ends with 2.
 */
export function askedOf<const Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
) {
  if (process.argv.includes('--help')) {
    process.stdout.write(`${usage}\n`)
    process.exit(0)
  }
  try {
    return parseArgs({ allowPositionals: true, options })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(2)
  }
}
