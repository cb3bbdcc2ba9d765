import { UserError } from '../../user/user-error.ts'
import { type Language, languageOf, type Settings } from '../settings/settings.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'
import { ja } from './words/ja.ts'
import type { Word, Wording } from './words/wording.ts'

const built: Readonly<Record<Language, Wording>> = { en, de, fr, es, ja }
export const allWords = Object.keys(en) as readonly Word[]

/**
 * The words of a locale, with those of the settings, which may name any own dimension: `tag.team`.
 *
 * @throws UserError for a word that the page does not have
 */
export function wordsFor(locale: string, settings: Pick<Settings, 'words'>): Wording {
  const unknown = [...settings.words.keys()].filter(
    (word) => !word.startsWith('tag.') && !allWords.some((each) => each === word),
  )
  if (unknown.length > 0) {
    throw new UserError(
      'usage',
      `words: ${unknown.join(', ')}: expected words of ${allWords.join(', ')}.`,
    )
  }
  return { ...built[languageOf(locale) ?? 'en'], ...Object.fromEntries(settings.words) }
}
