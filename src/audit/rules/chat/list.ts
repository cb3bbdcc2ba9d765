import type { Rule } from '../../rule.ts'
import { validationRules } from '../validation-rule.ts'
import { chat01, chat02, chat03, chat04, chat05, chat07, chat13 } from './completion.ts'
import { chat06, chat08, chat09 } from './usage.ts'

const requestRules = validationRules('chat', [
  {
    id: 'CHAT-10',
    title: 'A chat request without model or messages is refused',
    section: '§4.2',
    requires: 'a chat request without model or messages (wrong: missing-messages)',
  },
  {
    id: 'CHAT-11',
    title: 'Each chat message has a role of the three and content',
    section: '§2.4',
    requires: 'a chat request with a message of an unknown role, or without role or content',
  },
  {
    id: 'CHAT-12',
    title: 'Chat parameters must have their types and ranges, ends included',
    section: '§4.2, §8.4.5',
    requires: 'chat requests at and just outside the ends of ranges, and of wrong types',
  },
])

/** Section 1.4 of the rulebook. */
export const chatRules: readonly Rule[] = [
  ...[chat01, chat02, chat03, chat04, chat05, chat06, chat07, chat08, chat09],
  ...requestRules,
  chat13,
]
