import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { userError } from '../../user/user-error.ts'
import type { Options } from '../commands/init.ts'
import { nextLine } from '../terminal/next.ts'
import { baseUrlOf } from './target.ts'

const template = new URL('../../../scenarios/first.yaml', import.meta.url)
/** Refers to a file next to the scenario in the checkout, which a copy elsewhere lacks. */
const schemaLine = /^# yaml-language-server: .*\n#\n/

/** @throws UserError if the file exists: a scenario is never overwritten */
export async function initAction(file: string, { baseUrl, model }: Options): Promise<void> {
  if (existsSync(file)) {
    throw userError.usage(
      `${file} exists and is not replaced. Name another file: assay init other.yaml.`,
    )
  }
  let text = readFileSync(template, 'utf8')
    .replace(schemaLine, '')
    .replaceAll('first.yaml', basename(file))
  if (baseUrl !== undefined) text = withValue(text, 'base_url', baseUrlOf(baseUrl))
  if (model !== undefined) text = withValue(text, 'model', model)
  writeFileSync(file, text)
  process.stdout.write(
    `${file}\n${nextLine(['run', file, '--dry-run'], 'prints its plan and sends nothing')}`,
  )
}

/** A YAML string in double quotes is a JSON string. */
const withValue = (text: string, field: string, value: string) =>
  text.replace(new RegExp(`^${field}: .*$`, 'm'), () => `${field}: ${JSON.stringify(value)}`)
