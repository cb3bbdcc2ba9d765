import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { openWebhooks, type Webhook } from '../alerts/webhook.ts'
import { digestOf } from '../api/asked.ts'
import { checkAccent, readLogo } from '../page/logo.ts'
import { speechOf } from '../page/speech.ts'
import { wordsFor } from '../page/words.ts'
import { accountView } from './account-view.ts'
import { readSettings, type Settings } from './settings.ts'
import { openTokens, type TokenCheck } from './tokens.ts'

/** Settings, and the files that they name. */
export interface LookOfSettings {
  readonly settings: Settings
  /** An SVG; null without one. */
  readonly logo: string | null
}

/** Everything that a server needs of its settings, opened and tried: no answer can fail on them later. */
export interface OpenedSettings extends LookOfSettings {
  readonly tokens: TokenCheck
  readonly webhooks: readonly Webhook[]
  /** Changes with all that every answer depends on. */
  readonly digest: string
}

/** Tries what every page needs. @throws UserError for what no page can be made of */
export function checkLook(settings: Settings): LookOfSettings {
  checkAccent(settings)
  const tried = new Set<string>()
  for (const account of ['', ...settings.accounts.keys()]) {
    const view = accountView(settings, account)
    const key = `${view.locale} ${view.timezone}`
    if (tried.has(key)) continue
    tried.add(key)
    speechOf(wordsFor(view.locale, settings), view)
  }
  return { settings, logo: readLogo(settings) }
}

/** @throws UserError as `checkLook`, and for a key or a secret that cannot check a token */
export function openSettings(settings: Settings, env: NodeJS.ProcessEnv): OpenedSettings {
  const look = checkLook(settings)
  const { revokedBefore: _, accounts: __, ...shown } = settings
  const digest = digestOf(
    JSON.stringify([shown, look.logo], (___, value) => (value instanceof Map ? [...value] : value)),
  )
  const webhooks = openWebhooks(settings, env)
  return { ...look, tokens: openTokens(settings, env), webhooks, digest }
}

/** Changes when a file does. */
const markOf = (files: readonly string[]) =>
  files
    .map((file) => {
      const found = statSync(file, { bigint: true, throwIfNoEntry: false })
      return found === undefined ? '-' : `${found.ino}/${found.mtimeNs}/${found.size}`
    })
    .join(' ')

const filesOf = ({ folder, logo, tokens }: Settings): readonly string[] =>
  [logo, tokens.algorithm === 'EdDSA' ? tokens.publicKey : undefined].flatMap((file) =>
    file === undefined ? [] : [resolve(folder, file)],
  )

/**
 * The settings of a file, opened again when it, its logo or its key changes. A faulty change is logged, and keeps the
 * settings before it.
 *
 * @throws UserError if they are wrong at the start
 */
export function followedSettings(
  file: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): () => OpenedSettings {
  let files = [file]
  let mark = ''
  const open = () => {
    const own = markOf([file])
    // Wrong settings are read again only once a file changes.
    mark = markOf(files)
    const settings = readSettings(file)
    const beside = filesOf(settings)
    files = [file, ...beside]
    // Each file is marked before it is read, so a change meanwhile is seen at the next look.
    mark = [own, ...beside.map((each) => markOf([each]))].join(' ')
    return openSettings(settings, env)
  }
  let opened = open()
  return () => {
    if (markOf(files) === mark) return opened
    try {
      opened = open()
    } catch (error) {
      log(`the settings before are kept: ${(error as Error).message}`)
    }
    return opened
  }
}
