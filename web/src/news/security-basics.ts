import type { Content } from '../reading/blocks.ts'
import { news } from './news-cards.ts'

export const securityBasics: Content = {
  kicker: 'News',
  title: news.securityBasics.title,
  lead: news.securityBasics.snippet,
  date: ['Published', news.securityBasics.date],
  picture: news.securityBasics.picture,
  parent: { to: '/news-guides', text: 'News & Guides' },
  opening: [
    'Before you type your child’s name into any website, ours included, you deserve to know who you’re telling it to. These habits need no expert knowledge. Teach them to your child as you go: by the time they need them, they will have them.',
  ],
  sections: [
    {
      id: 'habits',
      title: 'Seven habits',
      blocks: [
        {
          kind: 'steps',
          items: [
            [
              { strong: 'Read the address.' },
              ' The part just before the first single slash shows whose site it is. Change one letter and it’s a different site.',
            ],
            [
              { strong: 'Look for https.' },
              ' It keeps others from reading along. It does not mean the site is honest: a fraudulent one can have it too.',
            ],
            [
              { strong: 'Type it yourself.' },
              ' Do not log in through a link in a message that you did not expect. Open the site from your bookmarks.',
            ],
            [
              { strong: 'One password per site.' },
              ' A password manager remembers them. Where a site offers a passkey, take it: it cannot be typed into the wrong place.',
            ],
            [
              { strong: 'Add a second step.' },
              ' A code from an app or a message keeps a stolen password from being enough. Never read such a code to anyone, no matter who they say they are.',
            ],
            [
              { strong: 'Ask why.' },
              ' A class needs an address to send a kit to. It does not need your child’s school or photo. If a form asks for more than its purpose needs, leave it.',
            ],
            [
              { strong: 'Pay where you are protected.' },
              ' Pay by card on the payment provider’s own page, and be careful where only transfers or gift cards are accepted.',
            ],
          ],
        },
      ],
    },
    {
      id: 'we',
      title: 'What we do on our side',
      blocks: [
        {
          kind: 'list',
          items: [
            'Only an adult registers. A child needs no account with us.',
            'Your card number goes to our payment provider and never reaches our servers.',
            'We keep passwords only in a form that no one can read, not even us.',
            'Member accounts can have a passkey or a second step. We recommend both.',
            'Class links go only to the registered guardian, and a child may keep the camera off.',
            [
              'What we keep, and for how long, is in our ',
              { to: '/privacy', text: 'Privacy Policy' },
              ', in plain words.',
            ],
          ],
        },
      ],
    },
    {
      id: 'child',
      title: 'Three sentences for your child',
      blocks: [
        {
          kind: 'list',
          items: [
            'Our address, your school and your passwords stay in the family.',
            'If something on the screen feels odd, you may always come and get me. You will never be in trouble for that.',
            'People online can pretend to be anyone.',
          ],
        },
        [
          'Did you get a message in our name that does not feel right? Please ',
          { to: '/contact', text: 'tell us' },
          '. We look into every one.',
        ],
      ],
    },
  ],
  next: [
    { to: '/news-guides', text: 'All news and guides' },
    { to: '/privacy', text: 'Read our Privacy Policy' },
  ],
}
