import type { Content } from '../reading/blocks.ts'

export const blog: Content = {
  kicker: 'Blog',
  title: 'Notes from the bench',
  lead: 'Two thoughts for parents, each as long as a cup of coffee.',
  picture: 'notebook',
  articles: true,
  sections: [
    {
      id: 'failing-robots',
      title: 'Why a robot that fails is a good teacher',
      date: '2025-09-12',
      blocks: [
        'The rover is meant to stop at the wall. It does not. It pushes, its wheels spin, and your child looks at you. This is the moment the whole hour was for.',
        'It is tempting to help. You see that the sensor looks at the ceiling, and it would take you two seconds to bend it down. But then the lesson is that someone else knows. If you wait, the lesson can be that you can find out.',
        [
          { strong: 'Ask instead of telling.' },
          ' Three questions carry surprisingly far: What did you want it to do? What does it do instead? What could you change, just one thing, to learn more? That is the method of every engineer and every doctor. No one has to call it that.',
        ],
        [
          { strong: 'Change one thing at a time.' },
          ' Children like to change everything at once, and so do adults. Then it works, and no one knows why. A small notebook beside the robot helps: what we tried, what happened.',
        ],
        [
          { strong: 'Stop while it is still fun.' },
          ' A problem that goes to bed unsolved is often solved at breakfast. Heads keep building.',
        ],
        'A robot makes this easy, because it is never angry and never disappointed. It only does what it was told. Finding out what you really told it is half of programming, and not a small part of growing up.',
      ],
    },
    {
      id: 'kitchen-table',
      title: 'A robot bench on the kitchen table',
      date: '2025-08-29',
      blocks: [
        'You do not need a workshop. You need a place where things can stay out until tomorrow, and a few habits that keep peace in the family.',
        {
          kind: 'list',
          items: [
            [
              { strong: 'A tray.' },
              ' The build lives on a tray with a rim. At dinner the tray moves, and no screw is lost.',
            ],
            [
              { strong: 'Light from the side' },
              ' opposite the writing hand, so that the hand casts no shadow on small parts.',
            ],
            [
              { strong: 'An egg carton' },
              ' for parts: one kind in each cup. It costs nothing and is better than most boxes that do.',
            ],
            [
              { strong: 'The laptop beside, not behind.' },
              ' The camera should see the hands, not only the face. A few books under it will do.',
            ],
            [
              { strong: 'Rules for batteries.' },
              ' They come in last and go out first. Loose ones never share a pocket or a cup with wires, and button cells stay with the adults.',
            ],
            [
              { strong: 'An adult within reach.' },
              ' Not at the elbow: within reach. Close enough for tools, far enough for ideas.',
            ],
          ],
        },
        [
          'Is the bench ready? Then start with ',
          { to: '/guides/light-switch', text: 'a light switch' },
          '. All of it fits on one tray.',
        ],
      ],
    },
  ],
  next: [
    { to: '/news-guides', text: 'News & Guides' },
    { to: '/robokidslanding', text: 'View Classes' },
  ],
}
