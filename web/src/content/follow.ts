import type { Content } from '../reading/blocks.ts'

/** The company's own accounts: the operator of the site sets them here. */
export const videoChannel = 'https://www.youtube.com/@robokidslearning'
export const socialNetwork = 'https://www.instagram.com/robokidslearning/'

export const follow: Content = {
  kicker: 'Follow Us',
  title: 'See what is on the bench',
  lead: 'Robots that work, robots that almost work, and what students have built. Both links open in a new tab.',
  picture: 'filming',
  sections: [
    {
      id: 'where',
      title: 'Where to find us',
      blocks: [
        {
          kind: 'cards',
          cards: [
            {
              id: 'youtube',
              title: 'YouTube',
              snippet: 'Short films of builds and experiments, to watch together.',
              action: 'Watch on YouTube',
              link: videoChannel,
              picture: 'video',
            },
            {
              id: 'instagram',
              title: 'Instagram',
              snippet: 'Pictures from the bench, and a note when new class dates are out.',
              action: 'Follow on Instagram',
              link: socialNetwork,
              picture: 'photo',
            },
          ],
        },
        'We show a child’s work only when a parent has said yes, and never a child’s name. These sites have their own rules and privacy policies, and most are for ages 13 and up.',
        ['No account anywhere? All of our news is ', { to: '/news', text: 'here on this site' }, ' too.'],
      ],
    },
  ],
}
