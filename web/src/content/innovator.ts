import type { Content } from '../reading/blocks.ts'

export const innovator: Content = {
  kicker: 'Innovator Program · Pilot 2025',
  title: 'From an idea to a company',
  lead: 'A mentorship for older students who do not only want to build a robot, but to found something with it. In 2025 it runs as a pilot, with a few students and a lot of time for each.',
  picture: 'innovator-scene',
  accent: 'orange',
  sections: [
    {
      id: 'phases',
      title: 'Five phases',
      blocks: [
        'Each phase ends with something that one can show: on paper, on the table, or in figures.',
        {
          kind: 'phases',
          items: [
            {
              title: 'Ideation and planning',
              text: 'Find a problem that is worth solving, and say in one sentence for whom.',
              points: [
                'Sketches and a first parts list',
                'Talks with people who have the problem',
                'A plan with dates',
              ],
            },
            {
              title: 'Prototyping and testing',
              text: 'Build the smallest thing that can fail, let it, and learn from it.',
              points: ['A prototype on the table', 'Tests that are written down', 'A second one that is better'],
            },
            {
              title: 'Product development',
              text: 'Turn what works once into what works every time, and in other hands than one’s own.',
              points: [
                'Drawings that somebody else can build from',
                'Safe and sturdy parts',
                'Instructions that a stranger understands',
              ],
            },
            {
              title: 'Business strategy',
              text: 'Who would want it, what would they pay, and how do they hear of it?',
              points: ['A price, with reasons', 'A name and a story', 'A talk of five minutes'],
            },
            {
              title: 'Finance and operations',
              text: 'What it costs to make ten, a hundred, a thousand, and what has to happen every day.',
              points: ['A budget that adds up', 'A way from the order to the doorstep', 'A plan for the first year'],
            },
          ],
        },
      ],
    },
    {
      id: 'who',
      title: 'Who it is for',
      blocks: [
        'Students who have built robots before, in our Level 3 or anywhere else, and have an idea that does not let them go. A mentor meets them live on a video call, and expects them to disagree now and then.',
        {
          kind: 'note',
          title: 'There is no sign-up yet',
          text: 'The pilot is small. If you think of a student for whom it would be right, tell us about the idea: a parent or guardian writes to us, and we answer each letter.',
        },
      ],
    },
    {
      id: 'spider',
      title: 'An example: the spider robot',
      blocks: [
        {
          kind: 'picture',
          of: 'spider',
          caption: 'Eight legs, sixteen joints, and each of the five phases behind it.',
        },
        'Our spider robot went this way: a sketch, a leg of cardboard, eight legs that got in each other’s way, and at last a robot that crosses a carpet. It is the one we tell of when a student asks whether it is normal that nothing works yet.',
      ],
    },
  ],
  next: [{ to: '/contact', text: 'Contact Us' }],
}
