FROM python:3.11-slim
WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY bot bot
COPY adapters adapters
COPY core core
COPY migrations migrations
RUN pip install --no-cache-dir -c constraints.txt '.[attachments,charts]' \
    && useradd --create-home footnote \
    && install -d -o footnote -g footnote /home/footnote/.footnote
USER footnote
WORKDIR /home/footnote
RUN mkdir .footnote
ENTRYPOINT ["footnote"]
CMD ["serve"]
