"""What models are asked, and the shape of what they answer: one Markdown file a prompt."""
